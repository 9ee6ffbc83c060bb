#include "core/session/sweep/sweep_labels.h"

#include <fstream>
#include <string_view>
#include <utility>

#include "core/base/number_text.h"
#include "core/base/trimmed.h"
#include "core/io/npz/npy.h"

namespace sonde::session {

namespace {

std::string_view trimmedCell(std::string_view text) {
    text = base::trimmed(text);
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    return text;
}

/// Predictions are indices: a name would count as a mistake of the model.
bool isIndex(const std::string& label) { return base::parseNumber<std::int64_t>(label).has_value(); }

base::Error noIndex(const std::string& label, const std::filesystem::path& path, std::size_t line) {
    return base::usageError("label '" + label + "' is not the index of a class",
                            path.string() + ", line " + std::to_string(line),
                            "labels are integers: the index of the class in the first output, from 0");
}

}  // namespace

base::Result<SweepLabels> SweepLabels::read(const std::filesystem::path& path) {
    SweepLabels labels;
    if (path.extension() == ".npy") {
        SONDE_ASSIGN(const tensor::Tensor array, io::readNpyFile(path));
        if (!tensor::isInteger(array.dtype()))
            return base::usageError("labels are integers, not " + std::string(tensor::name(array.dtype())),
                                    path.string());
        for (std::int64_t i = 0; i < array.numel(); ++i)
            labels.m_inOrder.push_back(std::to_string(static_cast<std::int64_t>(array.toDouble(i))));
        return labels;
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) return base::usageError("the labels cannot be read", path.string());
    std::string text, heading;
    std::size_t blank = 0;  // lines, which count only if another one follows
    for (std::size_t line = 1; std::getline(file, text); ++line) {
        if (trimmedCell(text).empty()) {
            ++blank;
            continue;
        }
        const std::size_t separator = text.find_last_of(text.find('\t') != std::string::npos ? '\t' : ',');
        if (separator == std::string::npos) {
            std::string label(trimmedCell(text));
            if (!isIndex(label)) {
                if (line > 1) return noIndex(label, path, line);
                heading = std::move(label);
                continue;
            }
            labels.m_inOrder.resize(labels.m_inOrder.size() + std::exchange(blank, 0));
            labels.m_inOrder.push_back(std::move(label));
            continue;
        }
        const std::string name(trimmedCell(std::string_view(text).substr(0, separator))),
            label(trimmedCell(std::string_view(text).substr(separator + 1)));
        if (name.empty())
            return base::usageError("the name of an input is missing",
                                    path.string() + ", line " + std::to_string(line));
        if (!label.empty() && !isIndex(label)) {
            if (line > 1) return noIndex(label, path, line);
            heading = label;
            continue;
        }
        if (label.empty()) labels.m_unlabelled[name] = line;
        else labels.m_byName[name] = label;
    }
    if (file.bad()) return base::usageError("the labels cannot be read", path.string());
    if ((!labels.m_byName.empty() || !labels.m_unlabelled.empty()) && !labels.m_inOrder.empty())
        return base::usageError("some lines name an input and some do not", path.string());
    if (labels.empty() && !heading.empty()) return noIndex(heading, path, 1);
    if (labels.empty()) return base::usageError("the file has no labels", path.string());
    return labels;
}

template <typename Value>
const Value* SweepLabels::find(const std::unordered_map<std::string, Value>& named, const std::string& input) {
    const std::filesystem::path path(input);
    for (const std::string& name : {input, path.filename().string(), path.stem().string()})
        if (const auto found = named.find(name); found != named.end()) return &found->second;
    return nullptr;
}

std::string SweepLabels::of(const std::string& input, std::size_t index) const {
    if (!m_inOrder.empty()) return index < m_inOrder.size() ? m_inOrder[index] : std::string();
    const std::string* const found = find(m_byName, input);
    return found ? *found : std::string();
}

std::string SweepLabels::missing(const std::string& input, std::size_t index) const {
    if (!m_inOrder.empty())
        return index < m_inOrder.size()
                   ? "the line of its label is empty"
                   : "the labels end before this input: there are " + std::to_string(m_inOrder.size());
    const std::size_t* const line = find(m_unlabelled, input);
    return line ? "line " + std::to_string(*line) + " of the labels has no label"
                : "the labels have no line for this input";
}

}  // namespace sonde::session
