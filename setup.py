"""What pyproject.toml cannot say: two folders of the top are shipped inside the package judge."""

from setuptools import find_packages, setup

SHIPPED = {"judge.recipes": "recipes", "judge.accelerate_configs": "accelerate_configs"}

setup(
    packages=[*find_packages(include=["judge*", "data_pipeline*", "eval*"]), *SHIPPED],
    package_dir=SHIPPED,
)
