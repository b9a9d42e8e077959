//! Tests of the loader: teams, in the making.
