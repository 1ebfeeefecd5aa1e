"""Engines that run a model: each takes chat messages, generates replies, and scores label words.

``load`` makes one by its name: transformers, vLLM in this process, or a server with OpenAI's API.
"""
