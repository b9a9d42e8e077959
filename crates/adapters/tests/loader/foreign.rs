//! Tests of the loader: foreign, in the making.
