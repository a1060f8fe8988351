"""What the config room promises."""
