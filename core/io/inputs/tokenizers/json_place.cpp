#include "core/io/inputs/tokenizers/json_place.h"

#include <nlohmann/json.hpp>

#include "core/base/unicode.h"
#include "core/base/visible_text.h"

namespace sonde::io {

using base::Result;

std::optional<JsonPlace> JsonPlace::find(std::string_view key) const {
    if (!m_value->is_object()) return std::nullopt;
    const auto found = m_value->find(key);
    if (found == m_value->end() || found->is_null()) return std::nullopt;
    return JsonPlace(*found, m_file, (m_path.empty() ? "" : m_path + '.') + std::string(key));
}

Result<JsonPlace> JsonPlace::at(std::string_view key) const {
    if (!m_value->is_object()) return error("an object is expected");
    if (std::optional<JsonPlace> found = find(key)) return *std::move(found);
    return error("'" + std::string(key) + "' is missing");
}

Result<std::vector<JsonPlace>> JsonPlace::items() const {
    if (!m_value->is_array()) return error("a list is expected");
    std::vector<JsonPlace> items;
    items.reserve(m_value->size());
    for (std::size_t i = 0; i < m_value->size(); ++i)
        items.emplace_back((*m_value)[i], m_file, m_path + '[' + std::to_string(i) + ']');
    return items;
}

Result<std::vector<JsonPlace>> JsonPlace::items(std::string_view key) const {
    SONDE_ASSIGN(const JsonPlace place, at(key));
    return place.items();
}

Result<std::string> JsonPlace::text() const {
    if (!m_value->is_string()) return error("a text is expected");
    return m_value->get<std::string>();
}

Result<std::string> JsonPlace::text(std::string_view key) const {
    SONDE_ASSIGN(const JsonPlace place, at(key));
    return place.text();
}

Result<std::int64_t> JsonPlace::integer() const {
    if (!m_value->is_number_unsigned() || m_value->get<std::uint64_t>() > INT32_MAX)
        return error("an integer from 0 to " + std::to_string(INT32_MAX) + " is expected");
    return m_value->get<std::int64_t>();
}

Result<std::int64_t> JsonPlace::integer(std::string_view key) const {
    SONDE_ASSIGN(const JsonPlace place, at(key));
    return place.integer();
}

Result<bool> JsonPlace::flag(std::string_view key, bool otherwise) const {
    const std::optional<JsonPlace> place = find(key);
    if (!place) return otherwise;
    if (!place->m_value->is_boolean()) return place->error("true or false is expected");
    return place->m_value->get<bool>();
}

std::string JsonPlace::where() const {
    std::string where(m_file);
    if (!m_path.empty()) where += (where.empty() ? "" : ", ") + base::visibleText(base::utf8Prefix(m_path, 200));
    return where;
}

base::Error JsonPlace::error(std::string what, std::string hint) const {
    return base::unreadable("in the tokenizer file " + std::move(what), where(), std::move(hint));
}

base::Error JsonPlace::refused(const std::string& what, const std::string& name, const std::string& known) const {
    base::Error refusal = error({}, "supported: " + known);
    refusal.what = "the " + what + " '" + base::visibleText(base::utf8Prefix(name, 60)) + "' is not supported";
    return refusal;
}

}  // namespace sonde::io
