"""The audit of a data set: what is in it, and whether a trivial rule could learn it."""

from data_pipeline.audit.page import write_audit
from data_pipeline.audit.run import audit_folder, audit_samples, audit_store

__all__ = ["audit_folder", "audit_samples", "audit_store", "write_audit"]
