"""For `spark-submit`: the same arguments as `kafkish pipeline run`, with Spark's own before them.

spark-submit --master spark://host:7077 --packages ... submit.py FILE.yaml --bootstrap HOST:PORT
"""

import argparse
import sys

if __name__ == "__main__":
    sys.path[:] = [path for path in sys.path if not path.endswith("kafkish/pipelines")]  # spark-submit put it there
    from kafkish.cli.pipeline import add_run_arguments, run

    parser = argparse.ArgumentParser(prog="submit.py", description="Run a pipeline file under spark-submit.")
    add_run_arguments(parser)
    sys.exit(run(parser.parse_args()))
