"""The documents of the API, as openapi.yaml describes them."""

from .generated.models import *
