"""The laboratory: compared methods, the paper's table 2, and topics side by side."""
