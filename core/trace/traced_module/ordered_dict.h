#pragma once

#include <utility>
#include <vector>

#include "core/trace/traced_module/structure.h"

namespace sonde::trace {

/// A dict whose order counts in the structure of arguments (traced-module.md): {a, b} and {b, a} are two structures,
/// where plain dicts are one. An object, known to every trace as "OrderedDict".
class OrderedDict final : public tensor::ObjectBase {
  public:
    using Entries = std::vector<std::pair<tensor::Value, Var>>;

    static constexpr const char* kTypeName = "OrderedDict";

    explicit OrderedDict(Entries entries) : m_entries(std::move(entries)) {}
    std::string typeName() const override { return kTypeName; }
    const Entries& entries() const { return m_entries; }
    /// Throws TraceError (Key): there is none.
    const Var& at(const tensor::Value& key) const;

    /// As an argument of a call.
    static tensor::Value make(Entries entries);
    /// What a forward was given. Throws TraceError (Type): it is something else.
    static const OrderedDict& of(const Var& var);
    /// How argument trees take it apart: keys and values in turn.
    static SupportedType type();

  private:
    Entries m_entries;
};

}  // namespace sonde::trace
