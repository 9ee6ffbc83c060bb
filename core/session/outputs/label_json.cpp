#include "core/session/outputs/label_json.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/count_text.h"
#include "core/base/number_text.h"
#include "core/base/trimmed.h"
#include "core/base/unicode.h"
#include "core/base/visible_text.h"
#include "core/io/inputs/name_lines.h"

namespace sonde::session::outputs {

namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;
using NamesByClass = std::map<std::size_t, std::string>;

constexpr std::string_view kJsonBlanks = " \t\r\n";
constexpr std::string_view kNamesHint =
    R"(labels in JSON are ["cat", "dog"], {"0": "cat", "1": "dog"} or {"cat": 0, "dog": 1})";

base::Error labelError(std::string what, const std::string& where) {
    return base::unreadable("in the labels file " + std::move(what), where, std::string(kNamesHint));
}

std::string placeIn(const std::string& where, std::string_view key) {
    constexpr std::size_t kShown = 60;
    return (where.empty() ? "" : where + ", ") + "\"" + base::visibleText(base::utf8Prefix(key, kShown)) + '"';
}

/// A name, or a list that ends in one.
base::Result<std::string> labelOf(const Json& value, const std::string& where) {
    const Json& last = value.is_array() && !value.empty() ? value.back() : value;
    if (!last.is_string()) return labelError("a name in quotation marks is expected", where);
    std::string name = last.get<std::string>();
    if (name.size() > io::NameLines::kMaxLineBytes)
        return labelError("a name is longer than " +
                              base::countText(static_cast<std::int64_t>(io::NameLines::kMaxLineBytes)) + " bytes",
                          where);
    if (name.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos)
        return labelError("a name has a line end or a zero byte", where);
    return name;
}

base::Result<std::size_t> classOf(std::int64_t number, const std::string& where) {
    if (number >= 0 && number < static_cast<std::int64_t>(io::NameLines::kMaxLines))
        return static_cast<std::size_t>(number);
    return labelError(
        "a class is not from 0 to " + base::countText(static_cast<std::int64_t>(io::NameLines::kMaxLines) - 1), where);
}

base::Result<Names> namesOfList(const Json& list, const std::string& where) {
    if (list.size() > io::NameLines::kMaxLines)
        return labelError(
            "there are more than " + base::countText(static_cast<std::int64_t>(io::NameLines::kMaxLines)) + " names",
            where);
    Names names;
    for (const Json& value : list) {
        SONDE_ASSIGN(names.emplace_back(),
                     labelOf(value, (where.empty() ? "" : where + ", ") + "name " + std::to_string(names.size() + 1)));
    }
    return names;
}

/// {"0": "cat"}, or {"cat": 0} if the values are numbers.
base::Result<Names> namesOfObject(const Json& object, const std::string& where) {
    NamesByClass found;
    for (const auto& [key, value] : object.items()) {
        const std::string at = placeIn(where, key);
        std::size_t index = 0;
        std::string name;
        if (value.is_number()) {
            if (!value.is_number_integer()) return labelError("a class is no integer", at);
            // A number above that of int64 is none of a class, either.
            SONDE_ASSIGN(index, classOf(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX
                                            ? INT64_MAX
                                            : value.get<std::int64_t>(),
                                        at));
            SONDE_ASSIGN(name, labelOf(Json(key), at));
        } else {
            const std::optional<std::int64_t> number = base::parseNumber<std::int64_t>(key);
            if (!number) return labelError("a key is no class", at);
            SONDE_ASSIGN(index, classOf(*number, at));
            SONDE_ASSIGN(name, labelOf(value, at));
        }
        if (!found.try_emplace(index, std::move(name)).second)
            return labelError("class " + std::to_string(index) + " has two names", at);
    }
    Names names(found.empty() ? 0 : found.rbegin()->first + 1);
    for (auto& [index, name] : found) names[index] = std::move(name);
    return names;
}

}  // namespace

bool isLabelJson(std::string_view text) {
    text = base::withoutByteOrderMark(text);
    const std::size_t first = text.find_first_not_of(kJsonBlanks);
    if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
    const std::size_t second = text.find_first_not_of(kJsonBlanks, first + 1);
    if (second == std::string_view::npos) return false;
    if (text[second] == '"') return true;
    return text[first] == '[' && (text[second] == '[' || text[second] == '{') && Json::accept(text);
}

base::Result<std::vector<std::string>> parseLabelJson(std::string_view text, const std::string& where) {
    if (text.size() > io::NameLines::kMaxBytes)
        return base::unreadable(
            "the labels file is larger than " + std::to_string(io::NameLines::kMaxBytes >> 20U) + " MiB", where);
    // What is nested deeper is no name, and may be nested as deep as the file is long.
    constexpr int kMaxLabelDepth = 4;
    const auto isWithin = [](int depth, Json::parse_event_t, const Json&) { return depth <= kMaxLabelDepth; };
    Json json;
    try {
        json = Json::parse(base::withoutByteOrderMark(text), isWithin);
    } catch (const Json::parse_error& error) {
        return base::unreadable(
            "the labels file is no valid JSON: there is an error at byte " + std::to_string(error.byte), where,
            std::string(kNamesHint));
    }
    if (json.is_array()) return namesOfList(json, where);
    for (const char* key : {"id2label", "label2id"})
        if (const auto inner = json.find(key); inner != json.end() && inner->is_object())
            return namesOfObject(*inner, placeIn(where, key));
    return namesOfObject(json, where);
}

}  // namespace sonde::session::outputs
