//! What a variant of an enum carries.

use serde::de::{DeserializeSeed, VariantAccess, Visitor};

use super::tracked::{Seed, Tracked};
use super::{Mistake, Step, Trail};

/// Of the variant whose name was read last.
pub(super) struct TrackedVariant<'t, I> {
    inner: I,
    trail: &'t Trail,
    name: Option<&'static str>,
}

impl<'t, I> TrackedVariant<'t, I> {
    pub(super) fn around(inner: I, trail: &'t Trail) -> Self {
        let name = trail.name.take();
        Self { inner, trail, name }
    }

    fn step(&self) -> Step {
        self.name.map_or(Step::Key, Step::Name)
    }
}

impl<'de, I: VariantAccess<'de>> VariantAccess<'de> for TrackedVariant<'_, I> {
    type Error = Mistake;

    fn unit_variant(self) -> Result<(), Mistake> {
        let step = self.step();
        self.trail
            .up(self.trail.step(self.inner.unit_variant(), step))
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Mistake> {
        let step = self.step();
        let seed = Seed::new(seed, self.trail);
        let read = self.inner.newtype_variant_seed(seed);
        self.trail.up(self.trail.step(read, step))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Mistake> {
        let step = self.step();
        let visitor = Tracked::around(visitor, self.trail, None);
        let read = self.inner.tuple_variant(len, visitor);
        self.trail.up(self.trail.step(read, step))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let step = self.step();
        let visitor = Tracked::around(visitor, self.trail, Some(fields));
        let read = self.inner.struct_variant(fields, visitor);
        self.trail.up(self.trail.step(read, step))
    }
}
