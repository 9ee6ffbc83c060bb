#include "core/session/edits/edit.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/number_text.h"
#include "core/expression/expression.h"

namespace sonde::session {

namespace {

constexpr std::array<std::pair<Edit::Kind, std::string_view>, 7> kEditKinds{{{Edit::Kind::Expression, "expression"},
                                                                             {Edit::Kind::File, "file"},
                                                                             {Edit::Kind::Zero, "zero"},
                                                                             {Edit::Kind::Noise, "noise"},
                                                                             {Edit::Kind::Scale, "scale"},
                                                                             {Edit::Kind::Swap, "swap"},
                                                                             {Edit::Kind::Remove, "remove"}}};

std::string partsText(const Edit& edit) {
    std::string text = ' ' + std::to_string(edit.axis);
    for (const std::int64_t index : edit.indices) text += ' ' + std::to_string(index);
    return edit.parts > 0 ? text + " of " + std::to_string(edit.parts) : text;
}

}  // namespace

std::string_view name(Edit::Kind kind) {
    return std::ranges::find(kEditKinds, kind, &std::pair<Edit::Kind, std::string_view>::first)->second;
}

std::optional<Edit::Kind> editKind(std::string_view name) {
    const auto found = std::ranges::find(kEditKinds, name, &std::pair<Edit::Kind, std::string_view>::second);
    return found == kEditKinds.end() ? std::nullopt : std::optional(found->first);
}

std::string editText(const Edit& edit) {
    std::string text = expression::quoted(edit.target.name);
    if (!edit.slice.empty()) text += '[' + edit.slice + ']';
    if (edit.kind == Edit::Kind::Expression) return text + " = " + edit.text;
    text += ' ' + std::string(edit.kind == Edit::Kind::File ? "load" : name(edit.kind));
    switch (edit.kind) {
        case Edit::Kind::File: return text + ' ' + edit.text;
        case Edit::Kind::Noise: return text + ' ' + base::shortestText(edit.number) + ' ' + std::to_string(edit.seed);
        case Edit::Kind::Scale: return text + ' ' + base::shortestText(edit.number);
        case Edit::Kind::Swap:
        case Edit::Kind::Remove: return text + partsText(edit);
        case Edit::Kind::Zero:
        case Edit::Kind::Expression: break;
    }
    return text;
}

}  // namespace sonde::session
