#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace sonde::io {

/// A value of a tokenizer.json with its place in the file, for reading what must be there. All errors are of kind
/// Unreadable and name the place: "tokenizer.json, model.merges[12]".
class JsonPlace {
  public:
    /// `value` and what `file` names outlive it.
    JsonPlace(const nlohmann::json& value, std::string_view file, std::string path = {})
        : m_value(&value), m_file(file), m_path(std::move(path)) {}

    const nlohmann::json& value() const { return *m_value; }
    /// Nothing if the key is missing, or null. Also of what is no object.
    std::optional<JsonPlace> find(std::string_view key) const;
    base::Result<JsonPlace> at(std::string_view key) const;
    base::Result<std::vector<JsonPlace>> items() const;  ///< of a list
    base::Result<std::vector<JsonPlace>> items(std::string_view key) const;
    base::Result<std::string> text() const;
    base::Result<std::string> text(std::string_view key) const;
    /// An id or a count, from 0 to 2^31 - 1.
    base::Result<std::int64_t> integer() const;
    base::Result<std::int64_t> integer(std::string_view key) const;
    base::Result<bool> flag(std::string_view key, bool otherwise) const;
    /// "type" of a step.
    base::Result<std::string> type() const { return text("type"); }

    base::Error error(std::string what, std::string hint = {}) const;
    std::string where() const;  ///< "tokenizer.json, model.vocab"

    /// The row of `table` whose `type` is that of this value, or an error that refuses it by name: "the pre-tokenizer
    /// 'Foo' is not supported".
    template <typename Row, std::size_t Size>
    base::Result<const Row*> kindIn(const Row (&table)[Size], const std::string& what) const {
        SONDE_ASSIGN(const std::string name, type());
        std::string known;
        for (const Row& row : table) {
            if (row.type == name) return &row;
            known += (known.empty() ? "" : ", ") + std::string(row.type);
        }
        return at("type").value().refused(what, name, known);
    }

  private:
    base::Error refused(const std::string& what, const std::string& name, const std::string& known) const;

    const nlohmann::json* m_value;
    std::string_view m_file;
    std::string m_path;
};

}  // namespace sonde::io
