#include "core/session/curve/curve_key.h"

#include <algorithm>
#include <cmath>

#include "core/base/number_text.h"
#include "core/base/thread_limits.h"
#include "core/document/input_infos.h"
#include "core/zoo/zoo.h"

namespace sonde::session {

namespace {

constexpr std::string_view kScheme = "zoo:";

const std::vector<zoo::Setting>& settingsOf(std::string_view model) {
    static const std::vector<zoo::Setting> none;
    if (!model.starts_with(kScheme)) return none;
    const zoo::ModelEntry* entry = zoo::find(model.substr(kScheme.size()));
    return entry ? entry->settings : none;
}

/// What a curve of the model can be measured against, for a hint.
std::string keysOf(const std::string& model, const std::vector<io::InputInfo>& inputs) {
    std::vector<std::string> keys{"threads", "watches"};
    for (const zoo::Setting& setting : settingsOf(model)) keys.emplace_back(setting.name);
    for (const io::InputInfo& input : inputs) {
        if (!input.type.shape) continue;
        for (std::size_t axis = 0; axis < input.type.shape->size(); ++axis) {
            const std::string& symbol = (*input.type.shape)[axis].symbol;
            if (!symbol.empty()) keys.push_back(symbol);
            keys.push_back(input.name + '.' + std::to_string(axis));
        }
    }
    std::string text;
    std::vector<std::string> told;
    for (const std::string& key : keys) {
        if (std::ranges::find(told, key) != told.end()) continue;
        if (told.size() == 12) return text + " …";
        text += (told.empty() ? "" : ", ") + key;
        told.push_back(key);
    }
    return text;
}

bool isOpen(const std::optional<std::vector<tensor::Dim>>& shape) { return shape && !shape->empty(); }

}  // namespace

base::Result<CurveKey> CurveKey::find(std::string_view name, const std::string& model,
                                      const document::Document& document) {
    CurveKey key;
    key.m_key = name;
    if (name == "threads") {
        key.m_what = "threads";
        key.m_most = base::kMaxThreads;
        return key;
    }
    if (name == "watches") {
        key.m_kind = Kind::Watches;
        key.m_what = "watched values";
        key.m_most = document.graph->nodeCount();
        return key;
    }
    if (std::ranges::any_of(settingsOf(model), [&](const zoo::Setting& setting) { return setting.name == name; })) {
        key.m_kind = Kind::Setting;
        key.m_what = "setting " + key.m_key + " of the model";
        return key;
    }
    key.m_kind = Kind::Dims;
    key.m_most = std::size_t{1} << 31;
    const std::vector<io::InputInfo> inputs = document::inputInfos(document);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        for (std::size_t axis = 0; inputs[i].type.shape && axis < inputs[i].type.shape->size(); ++axis)
            if ((*inputs[i].type.shape)[axis].symbol == name) key.m_dims.push_back({i, axis});
    if (!key.m_dims.empty()) {
        key.m_what = "dimension " + key.m_key + " of the inputs";
        return key;
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!name.starts_with(inputs[i].name + '.')) continue;
        const auto axis = base::parseNumber<std::uint32_t>(name.substr(inputs[i].name.size() + 1));
        if (!axis || !inputs[i].type.shape || *axis >= inputs[i].type.shape->size()) continue;
        key.m_dims.push_back({i, *axis});
        key.m_what = "axis " + std::to_string(*axis) + " of input " + inputs[i].name;
        return key;
    }
    if (name == "batch") {
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (isOpen(inputs[i].type.shape)) key.m_dims.push_back({i, 0});
        key.m_what = "axis 0 of all inputs";
        if (!key.m_dims.empty()) return key;
    }
    return base::usageError("the model has no '" + key.m_key + "' to measure a curve against", {},
                            "it has " + keysOf(model, inputs));
}

base::Result<void> CurveKey::check(double number) const {
    if (m_kind == Kind::Setting) return {};  // zoo::makeModel() refuses
    const double least = m_kind == Kind::Dims ? 1 : 0;
    if (number == std::floor(number) && number >= least && number <= static_cast<double>(m_most)) return {};
    return base::usageError("'" + base::roundedText(number, 15) + "' is no number of " +
                            (m_kind == Kind::Dims ? "elements for " + m_what : m_what) + " (" +
                            base::roundedText(least, 1) + " to " + std::to_string(m_most) + ")");
}

std::string CurveKey::modelAt(const std::string& model, double number) const {
    if (m_kind != Kind::Setting) return model;
    const std::size_t question = model.find('?');
    std::string changed = model.substr(0, question), rest;
    if (question != model.npos) rest = model.substr(question + 1);
    changed += '?';
    while (!rest.empty()) {
        const std::size_t end = rest.find('&');
        const std::string part = rest.substr(0, end);
        rest = end == rest.npos ? std::string() : rest.substr(end + 1);
        if (!part.starts_with(m_key + '=')) changed += part + '&';
    }
    return changed + m_key + '=' + base::roundedText(number, 15);
}

std::vector<io::InputInfo> CurveKey::inputsAt(std::vector<io::InputInfo> inputs, double number) const {
    for (const DimPlace& place : m_dims) {
        io::InputInfo& input = inputs[place.input];
        (*input.type.shape)[place.axis] = tensor::Dim::of(static_cast<std::int64_t>(number));
        if (place.axis < input.usual.size()) input.usual[place.axis] = {};
    }
    return inputs;
}

}  // namespace sonde::session
