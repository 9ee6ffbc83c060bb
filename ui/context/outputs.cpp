#include "ui/context/outputs.h"

#include <algorithm>
#include <utility>

#include "core/session/output_request.h"
#include "ui/context/messages.h"
#include "ui/context/open_model.h"
#include "ui/context/runs.h"
#include "ui/context/session_files.h"
#include "ui/context/stored.h"

namespace sonde::context {

namespace outputs = session::outputs;
using outputs::Choice;

namespace {

/// What is chosen for a model without a session file, as that has it.
QString keyOf(const document::Document& document) {
    return QStringLiteral("outputs/%1").arg(document.fingerprint, 16, 16, QLatin1Char('0'));
}

}  // namespace

Outputs::Outputs(session::Session& session, OpenModel& model, Runs& runs, SessionFiles& files, Messages& messages,
                 QObject* parent)
    : QObject(parent), m_session(session), m_model(model), m_runs(runs), m_files(files), m_messages(messages) {
    connect(&model, &OpenModel::documentLeft, this, &Outputs::clear);
    connect(&model, &OpenModel::fileChanged, this, &Outputs::clear);
    connect(&model, &OpenModel::documentOpened, this, &Outputs::recall);
    connect(&runs, &Runs::runFinished, this, &Outputs::follow);
    connect(&runs, &Runs::valueArrived, this, [this](graph::NodeId node) {
        const auto& document = m_model.document();
        if (m_runs.isDebugged() && document &&
            std::ranges::count(document->outputs, node, &document::NamedNode::node) > 0)
            take(debuggedRequest());
    });
}

Choice Outputs::choiceOf(const std::string& output) const {
    const auto found = std::ranges::find(m_choices, output, &Choice::output);
    if (found != m_choices.end()) return *found;
    Choice none;
    none.output = output;
    return none;
}

QString Outputs::staleReason() const { return m_runs.staleReason(); }

void Outputs::clear() {
    m_job.abandon();
    m_origin.reset();
    const bool was = !m_shown.outputs.empty();
    m_shown = {};
    if (was) Q_EMIT changed();
}

/// The session file counts for more than what is kept for the model.
void Outputs::recall() {
    m_choices.clear();
    const auto& document = m_model.document();
    if (!document || document != m_model.whole()) return;
    if (document->session) {
        outputs::SessionChoices found = outputs::sessionChoices(*document);
        for (const base::Error& error : found.refused) m_messages.report(error);
        m_choices = std::move(found.choices);
        return;
    }
    const QString kept = stored(keyOf(*document)).toString();
    if (kept.isEmpty()) return;
    // Of an earlier version, perhaps.
    if (auto read = outputs::parseChoices(kept.toStdString())) m_choices = std::move(*read);
    io::SessionFile base = m_session.fileBase();
    outputs::storeChoices(base, m_choices);
    m_session.setFileBase(std::move(base), m_session.fileFolder());
}

void Outputs::keep() {
    const auto& document = m_model.document();
    if (!document || document != m_model.whole()) return;
    io::SessionFile base = m_session.fileBase();
    outputs::storeChoices(base, m_choices);
    const auto text = base.others.find(outputs::kOutputsKey);
    store(keyOf(*document), text == base.others.end() ? QVariant() : QVariant(QString::fromStdString(text->second)));
    m_session.setFileBase(std::move(base), m_session.fileFolder());
    m_files.saveSoon();
}

void Outputs::choose(const Choice& choice) {
    if (choice == choiceOf(choice.output)) return;
    std::erase_if(m_choices, [&choice](const Choice& each) { return each.output == choice.output; });
    if (!choice.isDefault()) m_choices.push_back(choice);
    keep();
    follow();
}

outputs::ShowRequest Outputs::debuggedRequest() const {
    return outputs::showRequest(m_session, m_choices, [this](graph::NodeId node) -> const tensor::Value* {
        if (const tensor::Value* const value = m_runs.value(node)) return value;
        // Of an input that nobody looks at only the shape counts: it decides the form, as after a plain run.
        for (const session::Input& input : m_session.inputs().all())
            if (input.node == node && input.value) return &*input.value;
        return nullptr;
    });
}

/// A debugged run has those outputs that it has come to. Until they are fetched there is what there was.
void Outputs::follow() {
    if (!m_model.isOpen() || !m_runs.recording()) return clear();
    if (!m_runs.isDebugged()) return take(outputs::showRequest(m_session, m_choices));
    bool isAwaited = false;
    for (const document::NamedNode& output : m_model.document()->outputs) {
        if (m_runs.value(output.node) || !m_runs.recording()->computed(output.node)) continue;
        m_runs.requestValue(output.node);
        isAwaited = true;
    }
    if (!isAwaited) take(debuggedRequest());
}

void Outputs::take(outputs::ShowRequest request) {
    if (request.values.empty()) return clear();
    request.origin = m_origin;
    m_job.start(
        [request = std::move(request)](const base::WorkContext& work) { return outputs::showOutputs(request, work); },
        [this](base::Result<outputs::ShownOutputs> shown) {
            if (!shown) {
                if (shown.error().kind != base::ErrorKind::Cancelled) m_messages.report(shown.error());
                return;
            }
            // Numbers of another file are not shown; fileChanged() has cleared them.
            if (!m_model.checkFiles()) return;
            if (shown->origin != outputs::WeightOrigin::Unknown) m_origin = shown->origin;
            m_shown = std::move(*shown);
            Q_EMIT changed();
        });
}

Outputs& outputsOf(const QObject& context) {
    auto* found = context.findChild<Outputs*>({}, Qt::FindDirectChildrenOnly);
    Q_ASSERT(found);
    return *found;
}

}  // namespace sonde::context
