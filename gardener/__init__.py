"""The third room: decides. Projects, saved tests, proposals, repairs, time and people; no requests, no HTML."""
