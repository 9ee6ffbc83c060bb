#include "core/session/sweep/sweep_labels.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/base/counted_text.h"
#include "core/base/number_text.h"
#include "core/base/text_file.h"
#include "core/base/trimmed.h"
#include "core/base/unicode.h"
#include "core/io/npz/npy.h"

namespace sonde::session {

namespace {

/// Where the last separator outside of quotes is; npos: there is none. A tab in the line makes it one of tabs.
std::size_t lastSeparator(std::string_view line, char separator) {
    std::size_t last = std::string_view::npos;
    bool isQuoted = false, isBegin = true;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (isQuoted) {
            const bool isTwo = line.substr(i).starts_with("\"\"");
            if (line[i] == '"' && !isTwo) isQuoted = false;
            i += isTwo ? 1 : 0;
            continue;
        }
        if (line[i] == separator) last = i;
        isQuoted = isBegin && line[i] == '"';
        isBegin = line[i] == separator || (isBegin && line[i] == ' ');
    }
    // A quote that nothing closes is a character like others.
    return isQuoted ? line.rfind(separator) : last;
}

std::size_t lastSeparator(std::string_view line) {
    const std::size_t tab = lastSeparator(line, '\t');
    return tab != std::string_view::npos ? tab : lastSeparator(line, ',');
}

/// Without quotes around it, of which two within stand for one (RFC 4180).
std::string cellText(std::string_view text) {
    text = base::trimmed(text);
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::string(text);
    text = text.substr(1, text.size() - 2);
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        plain += text[i];
        if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') ++i;
    }
    return plain;
}

/// Predictions are indices: a name would count as a mistake of the model.
bool areIndices(const std::string& label) {
    return std::ranges::all_of(labelsOfSamples(label),
                               [](const std::string& one) { return base::parseNumber<std::int64_t>(one).has_value(); });
}

constexpr const char* kLabelsHint =
    "labels are lines 'input,label' or one label a line, or an .npy of integers [inputs] or [inputs, samples]";

/// No control characters but those that lines of a table have, and no bytes that UTF-8 does not have.
bool isText(const std::string& line) {
    const auto isControl = [](unsigned char c) {
        return (c < 0x20 && c != '\t' && c != '\r') || c == 0x7f || c >= 0xf8;
    };
    return std::ranges::none_of(line, isControl);
}

/// Of a column: a word. A number that is no index, or a letter typed for a digit, is a wrong label.
bool isHeading(const std::string& label) { return label.size() > 1 && !base::parseNumber<double>(label); }

std::string lineOf(const std::filesystem::path& path, std::size_t line) {
    return path.string() + ", line " + std::to_string(line);
}

base::Error noIndex(const std::string& label, const std::filesystem::path& path, std::size_t line) {
    constexpr std::size_t kMaxShown = 60;
    const std::string_view shown = base::utf8Prefix(label, kMaxShown);
    return base::usageError("label '" + std::string(shown) + (shown.size() < label.size() ? "\u2026" : "") +
                                "' is not the index of a class",
                            lineOf(path, line),
                            "labels are integers: the index of the class in the first output, from 0");
}

/// By input; of a batch with a space between those of its samples.
base::Result<std::vector<std::string>> labelsOf(const tensor::Tensor& array, const std::filesystem::path& path) {
    if (!tensor::isInteger(array.dtype()))
        return base::usageError("labels are integers, not " + std::string(tensor::name(array.dtype())), path.string());
    if (array.rank() > 2)
        return base::usageError("labels have the shape [inputs] or [inputs, samples], not " + array.shape().text(),
                                path.string());
    const std::int64_t inputs = array.rank() == 0 ? 1 : array.shape()[0];
    const std::int64_t samples = array.rank() == 2 ? array.shape()[1] : 1;
    // Any number of inputs without a label fits into a small file.
    if (array.numel() == 0) return std::vector<std::string>();
    std::vector<std::string> labels(static_cast<std::size_t>(inputs));
    for (std::int64_t i = 0; i < inputs * samples; ++i) {
        std::string& label = labels[static_cast<std::size_t>(i / samples)];
        label += (label.empty() ? "" : " ") + std::to_string(array.toInt64(i));
    }
    return labels;
}

/// What a line may call an input.
std::vector<std::string> namesOf(const std::string& input) {
    const std::filesystem::path path(input);
    return {input, path.filename().string(), path.stem().string()};
}

}  // namespace

std::vector<std::string> labelsOfSamples(const std::string& label) {
    std::istringstream words(label);
    return {std::istream_iterator<std::string>(words), {}};
}

base::Result<void> SweepLabels::addLine(const std::string& name, Entry entry, const std::filesystem::path& path) {
    const std::size_t line = entry.line;
    const auto [earlier, isNew] = m_byName.emplace(name, std::move(entry));
    if (isNew) return {};
    return base::usageError("line " + std::to_string(earlier->second.line) + " has a label for '" + name + "' already",
                            lineOf(path, line));
}

base::Result<SweepLabels> SweepLabels::read(const std::filesystem::path& path) {
    SweepLabels labels;
    labels.m_path = path;
    if (path.extension() == ".npy") {
        SONDE_ASSIGN(const tensor::Tensor array, io::readNpyFile(path));
        SONDE_ASSIGN(std::vector<std::string> texts, labelsOf(array, path));
        labels.m_isArray = true;
        for (std::string& text : texts) labels.m_inOrder.push_back({std::move(text), labels.m_inOrder.size() + 1});
        if (labels.empty()) return base::usageError("the file has no labels", path.string());
        return labels;
    }
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return base::usageError("the labels are a folder, not a file", path.string(), kLabelsHint);
    SONDE_ASSIGN(std::string lines, base::readText(path, "the file of labels"));
    std::istringstream file(std::move(lines));
    std::string text;
    std::size_t blank = 0;  // lines, which count only if another one follows
    for (std::size_t line = 1; std::getline(file, text); ++line) {
        if (!isText(text)) return base::usageError("the labels are no text", lineOf(path, line), kLabelsHint);
        if (cellText(text).empty()) {
            ++blank;
            continue;
        }
        const std::size_t separator = lastSeparator(text);
        const bool isNamed = separator != std::string::npos;
        const std::string name = cellText(std::string_view(text).substr(0, isNamed ? separator : 0)),
                          label = cellText(std::string_view(text).substr(isNamed ? separator + 1 : 0));
        if (isNamed && name.empty()) return base::usageError("the name of an input is missing", lineOf(path, line));
        if (!areIndices(label)) {
            if (line > 1 || !isHeading(label)) return noIndex(label, path, line);
            labels.m_titleName = name;
            labels.m_titleLabel = label;
            continue;
        }
        if (isNamed) SONDE_TRY(labels.addLine(name, {label, line}, path));
        if (isNamed) continue;
        for (blank += 1; blank > 0; --blank) labels.m_inOrder.push_back({{}, line + 1 - blank});
        labels.m_inOrder.back().label = label;
    }
    if (!labels.m_byName.empty() && !labels.m_inOrder.empty())
        return base::usageError("some lines name an input and some do not", path.string());
    if (labels.empty() && !labels.m_titleLabel.empty()) return noIndex(labels.m_titleLabel, path, 1);
    if (labels.empty()) return base::usageError("the file has no labels", path.string());
    return labels;
}

base::Result<void> SweepLabels::checkFor(const std::vector<SweepInput>& inputs) const {
    if (m_inOrder.size() > inputs.size())
        return base::usageError("there are " + std::to_string(m_inOrder.size()) + " labels for " +
                                    base::countedText(static_cast<std::int64_t>(inputs.size()), "input"),
                                m_path.string());
    const auto isTitle = [this](const SweepInput& input) {
        const std::vector<std::string> names = namesOf(input.name);
        return std::ranges::find(names, m_titleName) != names.end();
    };
    if (!m_titleName.empty() && std::ranges::any_of(inputs, isTitle)) return noIndex(m_titleLabel, m_path, 1);
    return {};
}

SweepLabels::Named::const_iterator SweepLabels::find(const std::string& input) const {
    for (const std::string& name : namesOf(input))
        if (const auto found = m_byName.find(name); found != m_byName.end()) return found;
    return m_byName.end();
}

std::string SweepLabels::of(const std::string& input, std::size_t index) const {
    if (!m_inOrder.empty()) return index < m_inOrder.size() ? m_inOrder[index].label : std::string();
    const auto found = find(input);
    return found == m_byName.end() ? std::string() : found->second.label;
}

std::string SweepLabels::place(const std::string& input, std::size_t index) const {
    const auto found = find(input);
    const std::size_t line = index < m_inOrder.size()  ? m_inOrder[index].line
                             : found != m_byName.end() ? found->second.line
                                                       : 0;
    return (m_isArray ? "row " : "line ") + std::to_string(line) + " of the labels";
}

std::string SweepLabels::missing(const std::string& input, std::size_t index) const {
    if (!m_inOrder.empty())
        return index < m_inOrder.size()
                   ? "the line of its label is empty"
                   : "the labels end before this input: there are " + std::to_string(m_inOrder.size());
    return find(input) != m_byName.end() ? place(input, index) + " has no label"
                                         : "the labels have no line for this input";
}

std::vector<std::string> SweepLabels::unused(const std::vector<SweepInput>& inputs) const {
    std::map<std::size_t, std::string> left;  // in the order of the lines
    for (const auto& [name, entry] : m_byName) left.emplace(entry.line, name);
    for (const SweepInput& input : inputs)
        if (const auto found = find(input.name); found != m_byName.end()) left.erase(found->second.line);
    std::vector<std::string> texts;
    for (const auto& [line, name] : left)
        texts.push_back("line " + std::to_string(line) + " of the labels is for '" + name +
                        "', which is no input of the sweep");
    return texts;
}

}  // namespace sonde::session
