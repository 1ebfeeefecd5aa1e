"""From documents with gold answers to audited SFT and DPO sets for judges."""
