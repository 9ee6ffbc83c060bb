// The part of InspectorContext that gives values to the model's inputs.

#include <algorithm>

#include "ui/context/inspector_context.h"

namespace sonde::context {

const ModelInput* InspectorContext::input(const QString& name) const {
    const auto found = std::ranges::find(m_inputs, name, &ModelInput::name);
    return found == m_inputs.end() ? nullptr : &*found;
}

void InspectorContext::setInputSpec(const QString& name, const InputSpec& spec) {
    if (input(name)) (void)m_session.runs().give(name.toStdString(), spec.plain());
    else report(Message{base::Severity::Warning, tr("The model has no input named %1").arg(name), {}, {}, {}});
}

void InspectorContext::giveFile(const QString& path) { m_session.runs().giveFile(path.toStdString()); }

/// What was given is kept for the next time, whoever has given it.
void InspectorContext::takeInputs() {
    const auto specs = [this] {
        std::vector<InputSpec> all;
        for (const ModelInput& input : m_inputs) all.push_back(input.spec);
        return all;
    };
    const std::vector<InputSpec> before = specs();
    m_inputs.clear();
    for (const session::Input& input : m_session.inputs().all()) m_inputs.push_back(ModelInput::from(input));
    if (specs() != before) keep();
}

void InspectorContext::watchInputFiles() {
    QStringList paths;
    for (const ModelInput& input : m_inputs)
        for (const auto& file : input.files) paths += QString::fromStdString(file->path().string());
    paths.removeDuplicates();
    m_inputWatch.watch({}, paths);
    checkInputFiles();  // it may have changed between reading and watching
}

QString InspectorContext::inputData() const { return QString::fromStdString(m_session.inputs().inputData()); }

}  // namespace sonde::context
