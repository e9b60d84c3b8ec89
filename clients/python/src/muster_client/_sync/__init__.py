# Generated from _async/__init__.py by scripts/check/python-client.ts. Do not edit.
