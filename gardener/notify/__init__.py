"""The door to mail, chat and webhooks: a URL names a service, and a notice is sent to it, once and within its time."""

from gardener.notify.sending import Failed, Outcome, Place, Sent, Unsure, read_url, send

__all__ = ["Failed", "Outcome", "Place", "Sent", "Unsure", "read_url", "send"]
