"""The built-in jobs, each a few lines over the parts that all pipelines share."""
