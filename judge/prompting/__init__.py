"""What a judge reads and writes: prompts, chat templates, fitting into the context, parsing of replies.

Judges released by others have their own prompts and replies (``templates``, ``replies``).
Documents that are too long are shortened (``fitting``) or judged in parts (``windows``); quotes in a
reasoning are located in the document (``evidence``).
"""
