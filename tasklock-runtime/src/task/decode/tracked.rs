//! A deserialiser around another one, which notes where it is and what is expected there.
//!
//! Everything is passed on. Errors cross in both directions: those of the type that is read are
//! [`Mistake`]s, and the reader inside is given an empty one in their place.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, MapAccess, SeqAccess, Visitor,
};

use super::variant::TrackedVariant;
use super::{Mistake, Step, Text, Trail};

/// Something of serde's, around which we stand.
pub(super) struct Tracked<'t, I> {
    inner: I,
    trail: &'t Trail,
    /// The names that the type has: of a struct's fields or an enum's variants.
    names: Option<&'static [&'static str]>,
    /// How many elements of a sequence were read.
    count: usize,
}

impl<'t, I> Tracked<'t, I> {
    pub(super) fn around(
        inner: I,
        trail: &'t Trail,
        names: Option<&'static [&'static str]>,
    ) -> Self {
        Self {
            inner,
            trail,
            names,
            count: 0,
        }
    }

    /// A key of a struct or a variant of an enum is one of the names, or the payload's own.
    fn note(&self, key: &str) {
        let mut names = self.names.unwrap_or_default().iter();
        self.trail
            .name
            .set(names.find(|name| **name == key).copied());
    }
}

/// Of a value; or of a key, with the names that it may be.
pub(super) struct Seed<'t, S> {
    inner: S,
    trail: &'t Trail,
    names: Option<&'static [&'static str]>,
}

impl<'t, S> Seed<'t, S> {
    pub(super) fn new(inner: S, trail: &'t Trail) -> Self {
        Self {
            inner,
            trail,
            names: None,
        }
    }

    fn of_key(inner: S, tracked: &Tracked<'t, impl Sized>) -> Self {
        tracked.trail.name.set(None);
        Self {
            inner,
            trail: tracked.trail,
            names: tracked.names,
        }
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Seed<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        let tracked = Tracked::around(inner, self.trail, self.names);
        self.trail.down(self.inner.deserialize(tracked))
    }
}

macro_rules! deserialize {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
            let visitor = Tracked::around(visitor, self.trail, self.names);
            self.trail.up(self.inner.$method(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Tracked<'_, D> {
    type Error = Mistake;

    deserialize! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32
        deserialize_i64 deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32
        deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_option deserialize_unit deserialize_seq deserialize_map
        deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let visitor = Tracked::around(visitor, self.trail, None);
        self.trail
            .up(self.inner.deserialize_unit_struct(name, visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let visitor = Tracked::around(visitor, self.trail, None);
        self.trail
            .up(self.inner.deserialize_newtype_struct(name, visitor))
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let visitor = Tracked::around(visitor, self.trail, None);
        self.trail.up(self.inner.deserialize_tuple(len, visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let visitor = Tracked::around(visitor, self.trail, None);
        self.trail
            .up(self.inner.deserialize_tuple_struct(name, len, visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let visitor = Tracked::around(visitor, self.trail, Some(fields));
        self.trail
            .up(self.inner.deserialize_struct(name, fields, visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let visitor = Tracked::around(visitor, self.trail, Some(variants));
        self.trail
            .up(self.inner.deserialize_enum(name, variants, visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! visit {
    ($($method:ident: $type:ty),*) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.trail.down(self.inner.$method(value))
        }
    )*};
}

macro_rules! visit_text {
    ($($method:ident: $type:ty),*) => {$(
        fn $method<E: Error>(self, text: $type) -> Result<V::Value, E> {
            self.note(&text);
            self.trail.down(self.inner.$method(text))
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Tracked<'_, V> {
    type Value = V::Value;

    /// Asked by the reader, which is about to refuse the value.
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = Text::of(&self.inner as &dyn Expected).into_string();
        f.write_str(&expected)?;
        self.trail.expected.replace(Some(expected));
        Ok(())
    }

    visit! {
        visit_bool: bool, visit_i64: i64, visit_i128: i128, visit_u64: u64, visit_u128: u128,
        visit_f64: f64, visit_bytes: &[u8], visit_borrowed_bytes: &'de [u8], visit_byte_buf: Vec<u8>
    }

    visit_text! { visit_str: &str, visit_borrowed_str: &'de str, visit_string: String }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.trail.down(self.inner.visit_unit())
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.trail.down(self.inner.visit_none())
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let inner = Tracked::around(inner, self.trail, None);
        self.trail.down(self.inner.visit_some(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        let inner = Tracked::around(inner, self.trail, None);
        self.trail.down(self.inner.visit_newtype_struct(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let inner = Tracked::around(inner, self.trail, None);
        self.trail.down(self.inner.visit_seq(inner))
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let inner = Tracked::around(inner, self.trail, self.names);
        self.trail.down(self.inner.visit_map(inner))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let inner = Tracked::around(inner, self.trail, self.names);
        self.trail.down(self.inner.visit_enum(inner))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Tracked<'_, A> {
    type Error = Mistake;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Mistake> {
        let read = self.inner.next_element_seed(Seed::new(seed, self.trail));
        let step = Step::Index(self.count);
        self.count += 1;
        self.trail.up(self.trail.step(read, step))
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Tracked<'_, A> {
    type Error = Mistake;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Mistake> {
        let seed = Seed::of_key(seed, self);
        self.trail.up(self.inner.next_key_seed(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Mistake> {
        let step = self.trail.name.take().map_or(Step::Key, Step::Name);
        let read = self.inner.next_value_seed(Seed::new(seed, self.trail));
        self.trail.up(self.trail.step(read, step))
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, 't, A: EnumAccess<'de>> EnumAccess<'de> for Tracked<'t, A> {
    type Error = Mistake;
    type Variant = TrackedVariant<'t, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), Mistake> {
        let seed = Seed::of_key(seed, &self);
        let (value, inner) = self.trail.up(self.inner.variant_seed(seed))?;
        Ok((value, TrackedVariant::around(inner, self.trail)))
    }
}
