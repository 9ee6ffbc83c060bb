#include "core/session/inputs.h"

#include <algorithm>

#include "core/document/input_infos.h"
#include "core/session/default_spec.h"

namespace sonde::session {

using graph::NodeId;

const Input* Inputs::find(std::string_view name) const {
    const auto found = std::ranges::find(m_rows, name, &Input::name);
    return found == m_rows.end() ? nullptr : &*found;
}

const Input* Inputs::of(NodeId node) const {
    const auto found = std::ranges::find(m_rows, node, &Input::node);
    return found == m_rows.end() ? nullptr : &*found;
}

std::vector<tensor::Value> Inputs::values() const {
    if (!m_document) return {};
    const std::vector<NodeId>& nodes = m_document->graph->inputs();
    std::vector<tensor::Value> values(nodes.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Input* const row = of(nodes[i]);
        if (row && row->value) values[i] = *row->value;
    }
    return values;
}

bool Inputs::areRead() const {
    return !m_archive && std::ranges::all_of(m_rows, [](const Input& input) {
        return input.value.has_value() || input.error.has_value() || input.spec.source.empty();
    });
}

bool Inputs::areAllGiven() const {
    return std::ranges::all_of(m_rows, [](const Input& input) { return input.value.has_value(); });
}

std::optional<base::Error> Inputs::refusal() const {
    for (const Input& input : m_rows)
        if (input.error || input.conflict) return input.error ? input.error : input.conflict;
    return std::nullopt;
}

namespace {

/// Of what takes no value at all, an optional or something that the file does not describe, none is one.
bool mayBeNone(const tensor::TypeInfo& type) {
    return !type.kind || type.kind == tensor::ValueKind::Optional || type.kind == tensor::ValueKind::None;
}

}  // namespace

void Inputs::refuseMissing(const std::vector<NodeId>& needed) {
    const auto hasDefault = document::defaultsOf(*m_document);
    bool isChanged = false;
    for (Input& input : m_rows) {
        if (input.value || !input.spec.source.empty() || mayBeNone(input.type) || hasDefault(input.name)) continue;
        if (std::ranges::find(needed, input.node) == needed.end()) continue;
        input.error = base::usageError("no value for input '" + input.name + "'", {},
                                       "give it a number, a file or random numbers");
        isChanged = true;
    }
    if (isChanged) m_observer.inputsChanged();
}

bool Inputs::stillRefuse(const base::Error& error) const {
    return std::ranges::any_of(m_rows, [&](const Input& input) {
        const std::optional<base::Error>& now = input.error ? input.error : input.conflict;
        // Of an input that could not be read the files are those of the value before.
        const bool isOutdated = input.value && input.hasChangedFile();
        return now && now->what == error.what && now->where == error.where && !isOutdated;
    });
}

std::string Inputs::inputData() const {
    std::string text;
    for (const Input& input : m_rows)
        if (!input.spec.source.empty()) text += (text.empty() ? "" : ";") + input.name + ":" + input.spec.source;
    return text;
}

std::string Inputs::changedFileText() const {
    for (const Input& input : m_rows)
        for (const auto& file : input.files)
            if (file->isKnownChanged()) return file->path().filename().string() + " changed on disk";
    return {};
}

void Inputs::bind(std::shared_ptr<const document::Document> document) {
    abandonReading();
    m_rows.clear();
    m_archive.reset();
    m_toldOfChange = false;
    m_document = std::move(document);
    if (!m_document) return;
    for (const io::InputInfo& info : document::inputInfos(*m_document)) {
        const document::NamedNode& input = m_document->inputs[m_rows.size()];
        m_rows.push_back({input.name, input.node, m_document->graph->node(input.node).type, defaultSpec(info),
                          input.isRequired, true});
    }
}

void Inputs::restore(std::string_view name, const InputSpec& spec) {
    const auto row = std::ranges::find(m_rows, name, &Input::name);
    if (row == m_rows.end() || row->spec == spec) return;
    row->spec = spec;
    row->isDefault = false;
    row->before.reset();
}

base::Result<void> Inputs::set(std::string_view name, const InputSpec& spec) {
    if (spec.isArchive()) m_isLent = false;
    if (const auto row = std::ranges::find(m_rows, name, &Input::name); row != m_rows.end()) row->before.reset();
    return change(name, spec);
}

/// An archive fills other inputs, too: what all of them had is noted.
base::Result<void> Inputs::lend(std::string_view name, const InputSpec& spec) {
    m_isLent = true;
    for (Input& row : m_rows)
        if (!row.before) row.before = row.isDefault ? InputSpec() : row.spec;
    return change(name, spec);
}

base::Result<void> Inputs::change(std::string_view name, const InputSpec& spec) {
    const auto row = std::ranges::find(m_rows, name, &Input::name);
    if (row == m_rows.end()) return base::usageError("the model has no input named " + std::string(name));
    row->spec = spec;
    row->isDefault = false;
    row->value.reset();
    row->error.reset();
    row->conflict.reset();
    row->note.clear();
    const auto index = static_cast<std::size_t>(row - m_rows.begin());
    if (spec.isArchive()) m_archive = ArchiveChoice{spec.source, index, std::vector<bool>(m_rows.size(), true)};
    else if (m_archive && m_archive->target == index) m_archive.reset();
    else if (m_archive) m_archive->isFree[index] = false;
    m_observer.inputsChanged();
    return {};
}

void Inputs::fillFrom(const std::string& archive) {
    m_isLent = false;
    if (!m_rows.empty()) m_archive = ArchiveChoice{archive, {}, std::vector<bool>(m_rows.size(), true)};
}

void Inputs::setValues(const std::vector<tensor::Value>& values) {
    abandonReading();
    m_archive.reset();
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        Input& row = m_rows[i];
        row = {row.name, row.node, row.type, {}, row.isRequired};
        if (i < values.size() && !values[i].isNone()) row.value = values[i];
    }
    m_observer.inputsChanged();
}

void Inputs::read(std::stop_token stop) {
    start(
        m_executor, Activity::Read, std::move(stop),
        [document = m_document, rows = m_rows, archive = m_archive](const base::WorkContext& work) {
            return readInputs(*document, rows, archive, work);
        },
        [this](ReadInputsResult result) { adopt(std::move(result)); });
}

void Inputs::adopt(ReadInputsResult result) {
    for (std::size_t i = 0; i < m_rows.size() && i < result.inputs.size(); ++i) {
        ReadInput& read = result.inputs[i];
        Input& row = m_rows[i];
        if (row.spec != read.asked) continue;
        row.conflict = std::move(read.conflict);
        if (read.spec != read.asked) {
            row.spec = read.spec;
            row.isDefault = read.isDefault;
            if (m_archive && !m_isLent) row.before.reset();
            row.value.reset();
            row.error.reset();
        }
        if (row.value) continue;
        if (!read.value) {
            row.error = std::move(read.value).error();
        } else if (!read.value->isNone()) {
            row.value = std::move(*read.value);
            row.note = std::move(read.note);
            row.files = std::move(read.files);
        }
    }
    m_toldOfChange = false;
    if (const auto archive = std::exchange(m_archive, {})) tellOfArchive(*archive, result);
    m_observer.inputsChanged();
    checkFiles();  // one may have changed since it was read
    m_observer.inputsRead();
}

/// What came of an archive is told once; what its input could not get is at the input.
void Inputs::tellOfArchive(const ArchiveChoice& archive, const ReadInputsResult& result) {
    for (const std::string& note : result.notes) m_observer.told({base::Severity::Info, note, archive.source, {}, {}});
    if (archive.target && result.lacking)
        m_observer.told(
            {base::Severity::Warning, result.lacking->what, result.lacking->where, result.lacking->hint, {}});
    if (!result.refused || archive.target) return;
    if (result.filled == 0) return m_observer.failed(*result.refused);
    m_observer.told({base::Severity::Warning, result.refused->what, result.refused->where, result.refused->hint, {}});
}

void Inputs::forgetOutdated() {
    for (Input& input : m_rows) {
        input.error.reset();
        if (input.hasChangedFile()) input.value.reset();
    }
}

void Inputs::checkFiles() {
    if (m_toldOfChange || std::ranges::none_of(m_rows, &Input::hasChangedFile)) return;
    m_toldOfChange = true;
    m_observer.inputsChanged();
}

}  // namespace sonde::session
