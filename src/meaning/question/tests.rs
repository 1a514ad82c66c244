//! Questions in both languages against the sample model.
