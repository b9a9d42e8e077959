//! Tests of the repair of front matter.
