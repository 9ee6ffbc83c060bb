#include "ui/context/inputs.h"

#include <algorithm>

#include "ui/context/messages.h"

namespace sonde::context {

Inputs::Inputs(session::Session& session, Messages& messages) : m_session(session), m_messages(messages) {
    connect(&m_watch, &FileWatch::touched, this, &Inputs::checkFiles);
}

const ModelInput* Inputs::find(const QString& name) const {
    const auto found = std::ranges::find(m_all, name, &ModelInput::name);
    return found == m_all.end() ? nullptr : &*found;
}

void Inputs::setSpec(const QString& name, const InputSpec& spec) {
    if (find(name)) (void)m_session.runs().give(name.toStdString(), spec.plain());
    else
        m_messages.report(
            Message{base::Severity::Warning, tr("The model has no input named %1").arg(name), {}, {}, {}});
}

void Inputs::giveFile(const QString& path) {
    m_session.runs().giveFile(path.toStdString());
    Q_EMIT fileGiven();
}

void Inputs::take() {
    const std::vector<ModelInput> before = std::move(m_all);
    reset();
    if (!std::ranges::equal(before, m_all, {}, &ModelInput::spec, &ModelInput::spec)) Q_EMIT specsChanged();
}

void Inputs::reset() {
    m_all.clear();
    const std::optional<std::size_t> shown = m_session.testCases().shown();
    for (const session::Input& input : m_session.inputs().all()) {
        m_all.push_back(ModelInput::from(input));
        if (shown && input.value && input.spec.source.empty()) m_all.back().note = tr("Test case %1").arg(*shown);
    }
}

void Inputs::watchFiles() {
    QStringList paths;
    for (const ModelInput& input : m_all)
        for (const auto& file : input.files) paths += QString::fromStdString(file->path().string());
    paths.removeDuplicates();
    m_watch.watch({}, paths);
    checkFiles();  // it may have changed between reading and watching
}

}  // namespace sonde::context
