// The part of InspectorContext that gives values to the model's inputs.

#include <algorithm>

#include "core/io/inputs/inputs.h"
#include "ui/context/input_values.h"
#include "ui/context/inspector_context.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

struct InspectorContext::ReadInputs : ReadInputsResult {};

namespace {

bool isArchive(const QString& source) {
    return !source.isEmpty() && io::kindOfItem(source.toStdString()) == io::ItemKind::Archive;
}

}  // namespace

const ModelInput* InspectorContext::input(const QString& name) const {
    const auto found =
        std::find_if(m_inputs.begin(), m_inputs.end(), [&](const ModelInput& row) { return row.name == name; });
    return found == m_inputs.end() ? nullptr : &*found;
}

void InspectorContext::setInputSpec(const QString& name, const InputSpec& spec) {
    const auto found =
        std::find_if(m_inputs.begin(), m_inputs.end(), [&](const ModelInput& row) { return row.name == name; });
    if (found == m_inputs.end()) {
        report(Message{base::Severity::Warning, tr("The model has no input named %1").arg(name), {}, {}, {}});
        return;
    }
    found->spec = spec;
    found->isDefault = false;
    found->value.reset();
    found->error.reset();
    found->conflict.reset();
    found->note.clear();
    const auto index = static_cast<std::size_t>(found - m_inputs.begin());
    if (isArchive(spec.source)) m_fill = Fill{spec.source, index, std::vector<bool>(m_inputs.size(), true)};
    else if (m_fill && m_fill->target == index) m_fill.reset();
    else if (m_fill) m_fill->isFree[index] = false;
    keep();
    Q_EMIT inputsChanged();
    readOrRun();
}

void InspectorContext::giveFile(const QString& path) {
    if (m_inputs.empty()) return;
    if (!isArchive(path)) {
        InputSpec spec = m_inputs.front().spec;
        spec.source = path;
        return setInputSpec(m_inputs.front().name, spec);
    }
    m_fill = Fill{path, {}, std::vector<bool>(m_inputs.size(), true)};
    readOrRun();
}

void InspectorContext::readOrRun() {
    if (m_live) run();
    else startReading();
}

bool InspectorContext::inputsAreRead() const {
    return std::all_of(m_inputs.begin(), m_inputs.end(), [](const ModelInput& input) {
        return input.value.has_value() || input.error.has_value() || input.spec.source.isEmpty();
    });
}

void InspectorContext::startReading() {
    std::optional<ArchiveChoice> archive;
    if (m_fill) archive = ArchiveChoice{m_fill->source, m_fill->target, m_fill->isFree};
    m_readJob.start([document = m_document, inputs = m_inputs,
                     archive](const base::WorkContext&) { return ReadInputs{readInputs(*document, inputs, archive)}; },
                    [this](ReadInputs read) { finishReading(std::move(read)); });
}

void InspectorContext::finishReading(ReadInputs result) {
    for (std::size_t i = 0; i < m_inputs.size() && i < result.inputs.size(); ++i) {
        ReadInput& read = result.inputs[i];
        ModelInput& input = m_inputs[i];
        if (input.spec != read.asked) continue;
        input.conflict = std::move(read.conflict);
        const bool isFilled = read.spec != read.asked;
        if (isFilled) {
            input.spec = read.spec;
            input.isDefault = read.isDefault;
            input.value.reset();
            input.error.reset();
        }
        if (input.value) continue;
        if (!read.value) {
            input.error = std::move(read.value).error();
        } else if (!read.value->isNone()) {
            input.value = std::move(*read.value);
            input.note = read.note;
            input.files = std::move(read.files);
        }
    }
    watchInputFiles();
    if (const auto fill = std::exchange(m_fill, {})) finishFilling(*fill, result);
    Q_EMIT inputsChanged();
    if (!m_runWanted) return;
    m_runWanted = false;
    startRunIfGiven();
}

void InspectorContext::watchInputFiles() {
    QStringList paths;
    for (const ModelInput& input : m_inputs)
        for (const auto& file : input.files) paths += QString::fromStdString(file->path().string());
    paths.removeDuplicates();
    m_inputWatch.watch({}, paths);
    m_inputFileChanged = false;
    checkInputFiles();  // it may have changed between reading and watching
}

void InspectorContext::checkInputFiles() {
    if (m_inputFileChanged || std::ranges::none_of(m_inputs, &ModelInput::hasChangedFile)) return;
    m_inputFileChanged = true;
    Q_EMIT inputsChanged();
}

QString InspectorContext::staleReason() const {
    if (!m_recording || !m_document || isRunning()) return {};
    for (const ModelInput& input : m_inputs)
        for (const auto& file : input.files)
            if (file->isKnownChanged())
                return tr("%1 changed on disk").arg(QString::fromStdString(file->path().filename().string()));
    return same(m_runInputs, inputValues()) ? QString() : tr("the inputs were changed");
}

bool InspectorContext::isStale(NodeId node) const {
    if (!m_document || !node.valid() || node.index() >= graph().nodeCount() || graph().node(node).constant ||
        staleReason().isEmpty())
        return false;
    const auto given = std::ranges::find(m_inputs, node, &ModelInput::node);
    if (given == m_inputs.end()) return true;
    const tensor::Value* const shown = value(node);
    return shown && given->value && !same(*shown, *given->value);
}

/// What came of an archive is told once; what its input could not get is at the input.
void InspectorContext::finishFilling(const Fill& fill, const ReadInputs& result) {
    keep();
    for (const std::string& note : result.notes)
        report(Message{base::Severity::Info, QString::fromStdString(note), fill.source, {}, {}});
    if (!result.refused || fill.target) return;
    if (result.filled == 0) return report(*result.refused);
    report(Message{base::Severity::Warning,
                   QString::fromStdString(result.refused->what),
                   windowPlace(result.refused->where),
                   windowHint(result.refused->hint),
                   {}});
}

}  // namespace sonde::context
