#include "core/session/outputs/choice.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/number_text.h"

namespace sonde::session::outputs {

namespace {

using Corners = BoxLayout::Corners;

constexpr std::array<std::pair<std::string_view, Corners>, 5> kCorners{{{"auto", Corners::Found},
                                                                        {"xyxy", Corners::XyXy},
                                                                        {"yxyx", Corners::YxYx},
                                                                        {"xywh", Corners::XyWh},
                                                                        {"cxcywh", Corners::CxCyWh}}};

base::Result<void> setInteger(std::string_view key, std::string_view text, int low, int high, int& into) {
    const auto number = base::parseNumber<int>(text);
    if (!number || *number < low || *number > high)
        return base::usageError(std::string(key) + " is no integer from " + std::to_string(low) + " to " +
                                std::to_string(high) + ": '" + std::string(text.substr(0, 80)) + "'");
    into = *number;
    return {};
}

/// A word alone, or with its value.
struct Option {
    std::string_view key;
    bool hasValue;
    base::Result<void> (*set)(std::string_view value, Choice& choice);
};

base::Result<void> setWhere(std::string_view value, std::string& into) {
    if (value.empty()) return base::usageError("score and class need a column, an output or none");
    into = std::string(value);
    return {};
}

const std::vector<Option>& options() {
    constexpr int kMaxIndex = 1'000'000;
    static const std::vector<Option> table{
        {"top", true, [](std::string_view value, Choice& to) { return setInteger("top", value, 1, kMaxTop, to.top); }},
        {"sample", true,
         [](std::string_view value, Choice& to) { return setInteger("sample", value, 0, kMaxIndex, to.sample); }},
        {"normalised", false,
         [](std::string_view, Choice& to) -> base::Result<void> {
             to.boxes.isNormalised = true;
             return {};
         }},
        {"pixels", false,
         [](std::string_view, Choice& to) -> base::Result<void> {
             to.boxes.isNormalised = false;
             return {};
         }},
        {"transposed", false,
         [](std::string_view, Choice& to) -> base::Result<void> {
             to.boxes.isTransposed = true;
             return {};
         }},
        {"rows", false,
         [](std::string_view, Choice& to) -> base::Result<void> {
             to.boxes.isTransposed = false;
             return {};
         }},
        {"first", true,
         [](std::string_view value, Choice& to) { return setInteger("first", value, 0, kMaxIndex, to.boxes.first); }},
        {"score", true, [](std::string_view value, Choice& to) { return setWhere(value, to.boxes.score); }},
        {"class", true, [](std::string_view value, Choice& to) { return setWhere(value, to.boxes.classes); }},
        {"threshold", true,
         [](std::string_view value, Choice& to) -> base::Result<void> {
             const auto number = base::parseNumber<double>(value);
             if (!number || !(*number >= -1e9 && *number <= 1e9))
                 return base::usageError("threshold is no number: '" + std::string(value.substr(0, 80)) + "'");
             to.boxes.threshold = *number;
             return {};
         }},
    };
    return table;
}

base::Result<void> setOption(std::string_view word, Choice& choice) {
    for (const auto& [text, corners] : kCorners)
        if (word == text) {
            choice.boxes.corners = corners;
            return {};
        }
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    for (const Option& option : options()) {
        if (option.key != key) continue;
        if (option.hasValue != (equals != std::string_view::npos))
            return base::usageError("option '" + std::string(key) +
                                    (option.hasValue ? "' needs a value" : "' has no value"));
        return option.set(option.hasValue ? word.substr(equals + 1) : std::string_view(), choice);
    }
    std::vector<std::string> known;
    for (const auto& [text, corners] : kCorners) known.emplace_back(text);
    for (const Option& option : options()) known.emplace_back(option.key);
    std::string all;
    for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
    return base::usageError("there is no option '" + std::string(key.substr(0, 80)) + "' of an output", {},
                            "options are " + all);
}

}  // namespace

std::string_view name(Corners corners) {
    return std::ranges::find(kCorners, corners, &std::pair<std::string_view, Corners>::second)->first;
}

std::string optionsText(const Choice& choice) {
    const BoxLayout& boxes = choice.boxes;
    const Choice usual;
    std::vector<std::string> words;
    if (choice.top != usual.top) words.push_back("top=" + std::to_string(choice.top));
    if (choice.sample != 0) words.push_back("sample=" + std::to_string(choice.sample));
    if (boxes.corners != Corners::Found) words.emplace_back(name(boxes.corners));
    if (boxes.isNormalised) words.emplace_back(*boxes.isNormalised ? "normalised" : "pixels");
    if (boxes.isTransposed) words.emplace_back(*boxes.isTransposed ? "transposed" : "rows");
    if (boxes.first != 0) words.push_back("first=" + std::to_string(boxes.first));
    if (!boxes.score.empty()) words.push_back("score=" + boxes.score);
    if (!boxes.classes.empty()) words.push_back("class=" + boxes.classes);
    if (boxes.threshold != usual.boxes.threshold) words.push_back("threshold=" + base::shortestText(boxes.threshold));
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
    return text;
}

base::Result<void> parseOptions(std::string_view text, Choice& choice) {
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        const std::string_view word = text.substr(0, comma);
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
        if (!word.empty()) SONDE_TRY(setOption(word, choice));
    }
    return {};
}

}  // namespace sonde::session::outputs
