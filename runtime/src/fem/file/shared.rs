//! Values that several owners share until one of them changes its own.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value that is copied when it is changed while it has another owner: a mesh keeps lists of its file without a second copy.
#[derive(Debug, Default, PartialEq)]
pub struct Shared<T>(Arc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Shared<T> {
        Shared(self.0.clone())
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Shared<T> {
        Shared(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T, C: FromIterator<T>> FromIterator<T> for Shared<C> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Shared<C> {
        Shared::from(C::from_iter(items))
    }
}
