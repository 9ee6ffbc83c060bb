#include "ui/context/loader.h"

#include <algorithm>
#include <filesystem>

#include "core/base/mapped_file.h"
#include "core/document/sha256.h"
#include "core/graph/operation_count.h"
#include "ui/context/count_text.h"
#include "ui/context/messages.h"
#include "ui/context/model_memory.h"
#include "ui/context/navigation.h"
#include "ui/context/remembered.h"
#include "ui/context/session_files.h"
#include "ui/context/settings.h"
#include "ui/context/text.h"
#include "ui/context/window_hint.h"

namespace sonde::context {

struct Loader::Loaded {
    std::shared_ptr<const document::Document> document;
    std::shared_ptr<const layout::Outline> outline;
    std::optional<base::Error> error;
    std::optional<document::NativeRequest> request;  ///< what the user must agree to first
    std::optional<SessionQuestion> question;         ///< the same of a session file
};

namespace {

/// What the user must decide before a session file opens; empty if it is no session file, or has another fault.
std::optional<SessionQuestion> questionOf(const std::string& path, const document::OpenOptions& options,
                                          bool anyContent) {
    if (!document::isSessionFile(path)) return std::nullopt;
    const auto read = document::readSessionModel(path, options);
    if (!read) return std::nullopt;
    const auto& [session, model] = *read;
    SessionQuestion question{text(path), model.state, text(model.location), text(session.file.model.sha256),
                             session.file.model.bytes};
    using State = document::SessionModel::State;
    if (model.state != State::Found) return question;
    if (options.sessionModel.empty() || anyContent) return std::nullopt;
    const auto chosen = base::MappedFile::open(options.sessionModel);
    if (!chosen || document::sha256((*chosen)->bytes()) == session.file.model.sha256) return std::nullopt;
    question.state = State::Changed;
    return question;
}

/// So many findings of a file are listed one by one: nobody reads more, and each takes time in every list that shows
/// it.
constexpr std::size_t kFindingsTold = 300;

}  // namespace

Loader::Loader(session::Session& session, OpenModel& model, Navigation& navigation, ModelMemory& memory,
               SessionFiles& files, Messages& messages)
    : m_session(session), m_model(model), m_navigation(navigation), m_memory(memory), m_files(files),
      m_messages(messages) {
    connect(&memory, &ModelMemory::notRestored, this, [this](const QString& what) {
        m_messages.report(Message{base::Severity::Warning, tr("Not restored: %1").arg(what), m_location, {}, {}});
    });
    connect(&memory, &ModelMemory::inputsRefused, this, [this](const base::Error& error) {
        Q_EMIT sessionQuestioned({m_location, document::SessionModel::State::Outside, text(error.what), {}, 0});
    });
    connect(&m_load, &Job::progressed, this, &Loader::loadProgressed);
}

void Loader::open(const QString& model) {
    if (model != m_location) {
        m_options = {};
        m_allowsOutside = m_anyContent = false;
        m_sessionModel.clear();
    }
    m_files.flush();
    m_isRetraced = false;
    m_location = model;
    load();
}

void Loader::reload() {
    if (!m_location.isEmpty()) open(QString(m_location));
}

void Loader::retrace(const document::OpenOptions& options) {
    if (!m_model.whole() || m_location.isEmpty()) return;
    m_memory.keep();
    m_options = options;
    m_isRetraced = true;
    load();
}

void Loader::openSession(const QString& session, const QString& model, bool anyContent) {
    if (session != m_location) m_options = {};
    m_location = session;
    m_sessionModel = model;
    m_anyContent = anyContent;
    m_isRetraced = false;
    load();
}

void Loader::allowOutside(const QString& session) {
    if (session != m_location) m_options = {};
    m_location = session;
    m_allowsOutside = true;
    m_isRetraced = false;
    load();
}

void Loader::load() {
    m_state = LoadState::Loading;
    m_options.groups = Settings::findsGroups();
    m_options.allowNative = m_allowsNative;
    // Traced anew is the model that is open; what the file says of tracing no longer counts.
    const bool isModel = m_isRetraced && m_model.whole();
    m_options.allowOutside = m_allowsOutside && !isModel;
    m_options.sessionModel = isModel ? std::string() : m_sessionModel.toStdString();
    m_options.registeredLeaves.clear();
    for (const QString& leaf : Settings::registeredLeaves()) m_options.registeredLeaves.push_back(leaf.toStdString());
    m_messages.clearBanner();
    Q_EMIT loadStarted(m_location);
    m_load.start(
        [path = isModel ? m_model.whole()->location : m_location.toStdString(), options = m_options,
         anyContent = m_anyContent](const base::WorkContext& work) {
            Loaded loaded;
            if ((loaded.question = questionOf(path, options, anyContent))) {
                loaded.error = base::unreadable("the session file asks for its model", path);
                return loaded;
            }
            auto opened = document::open(path, options, work);
            if (!opened) {
                loaded.error = std::move(opened).error();
                if (!options.allowNative) loaded.request = document::nativeRequest(path);
                return loaded;
            }
            if (work.cancelled()) {
                loaded.error = base::cancelled("opening the model");
                return loaded;
            }
            loaded.document = *opened;
            loaded.outline = std::make_shared<layout::Outline>(loaded.document->graph);
            fetchRemembered(*loaded.document);
            return loaded;
        },
        [this](Loaded loaded) {
            if (loaded.question) {
                leaveLoading();
                Q_EMIT loadFailed(*loaded.error);
                Q_EMIT sessionQuestioned(*loaded.question);
                return;
            }
            loaded.request ? askForConsent(*loaded.error, *loaded.request)
            : loaded.error ? fail(*loaded.error)
                           : adopt(std::move(loaded));
        });
}

/// Not an error but a question, which stands until it is answered.
void Loader::askForConsent(const base::Error& error, const document::NativeRequest& request) {
    leaveLoading();
    Q_EMIT loadFailed(error);
    Q_EMIT consentRequested(request);
}

void Loader::agreeToNative(const document::NativeRequest& request) {
    if (const auto remembered = document::agreeToNative(request.hash, request.path); !remembered)
        return m_messages.report(remembered.error());
    m_messages.report(Message{base::Severity::Info,
                              tr("Agreed to run %1").arg(text(request.path.filename().string())),
                              tr("SHA-256 %1").arg(text(request.hash)),
                              {},
                              {}});
    // The file is read again: should it have another content by now, that is asked about.
    open(text(request.location));
}

/// What was open stays: a typing mistake must not take the user's model away, nor be what is reloaded or traced again.
void Loader::fail(const base::Error& error) {
    leaveLoading();
    if (error.kind != base::ErrorKind::Cancelled) m_messages.report(error);
    Q_EMIT loadFailed(error);
}

void Loader::leaveLoading() {
    m_state = m_model.isOpen() ? LoadState::Loaded : LoadState::Failed;
    if (m_model.whole()) {
        m_location = locationOfWhole();
        m_options = m_model.whole()->options;
    }
}

QString Loader::locationOfWhole() const {
    return m_files.path().isEmpty() ? text(m_model.whole()->location) : m_files.path();
}

/// At once for who asked: the work itself ends where it next looks.
void Loader::cancel() {
    if (m_state != LoadState::Loading) return;
    m_load.abandon();
    fail(base::cancelled("opening the model"));
}

void Loader::show(std::shared_ptr<const document::Document> document) {
    m_load.abandon();
    auto outline = std::make_shared<const layout::Outline>(document->graph);
    m_location = text(document->location);
    m_isRetraced = false;
    adopt({std::move(document), std::move(outline), {}, {}});
}

void Loader::showGraph(int graph) {
    if (graph == m_model.shownGraph()) return;
    std::shared_ptr<const document::Document> chosen = m_model.documentOfGraph(graph);
    if (!chosen) return;
    m_memory.keep();
    auto outline = std::make_shared<const layout::Outline>(chosen->graph);
    display(std::move(chosen), std::move(outline), m_model.whole(), graph);
    Q_EMIT m_model.documentOpened();
    Q_EMIT m_navigation.historyChanged();
}

void Loader::close() {
    cancel();
    m_files.flush();
    m_files.adopt({});
    m_state = LoadState::Empty;
    m_location.clear();
    if (!m_model.isOpen()) return;
    m_memory.keep();
    m_session.close();
    m_model.setShown({}, 0);
    m_model.followFile();
    m_memory.recallAll();
    m_options = {};
    m_messages.clearBanner();
    Q_EMIT m_model.documentClosed();
}

/// Shows a graph in place of the one that is shown, with what is remembered of it.
void Loader::display(std::shared_ptr<const document::Document> document, std::shared_ptr<const layout::Outline> outline,
                     std::shared_ptr<const document::Document> whole, int graph) {
    m_session.show(std::move(document), std::move(whole));
    m_model.setShown(std::move(outline), graph);
    m_memory.recallAll();
    m_memory.keep();
}

void Loader::adopt(Loaded loaded) {
    // Reloading keeps the selection, by name.
    const NodeId before = m_navigation.selection().node;
    const bool same = m_model.isOpen() && m_model.document()->location == loaded.document->location;
    const std::string selected = same && before.valid() ? m_model.graph().node(before).name : std::string();
    m_memory.keep();
    m_state = LoadState::Loaded;
    if (!m_isRetraced) {
        const bool isSession = loaded.document->session && m_location == text(loaded.document->session->path.string());
        m_files.flush();
        m_files.adopt(isSession ? m_location : QString());
        if (!loaded.document->session) m_session.setFileBase({});
    }
    display(loaded.document, std::move(loaded.outline), loaded.document, 0);
    if (!m_isRetraced) m_files.noteOpened();
    m_model.followFile();
    reportOpened();
    if (!m_isRetraced) offerComparison();
    Q_EMIT m_model.documentOpened();
    Q_EMIT m_navigation.historyChanged();
    const NodeId again = selected.empty() ? NodeId() : m_model.graph().findNode(selected);
    if (again.valid()) m_navigation.select(again);
}

/// What a session file says that its model was compared with.
void Loader::offerComparison() {
    const session::Comparison& comparison = m_session.comparison();
    if (!m_model.document()->session || !comparison.canRepeat() || comparison.references().empty()) return;
    const std::string& path = comparison.references().front();
    m_messages.report(
        Message{base::Severity::Info,
                tr("The session was compared with %1").arg(text(std::filesystem::path(path).filename().string())),
                text(path), tr("Run \u203a Compare \u203a Compare Again does it again"), NodeId()});
}

void Loader::reportOpened() {
    const document::Document& document = *m_model.document();
    m_messages.report(Message{
        base::Severity::Info,
        tr("Opened %1: %2, %3 operations")
            .arg(text(document.title), text(document.format), countText(graph::operationCount(*document.graph))),
        text(document.location),
        {},
        {}});
    std::size_t told = 0;
    for (const base::Diagnostic& found : document.diagnostics) {
        if (told++ == kFindingsTold) break;
        m_messages.report(Message{found.severity, text(found.what), windowPlace(found.where), windowHint(found.hint),
                                  document.graph->findNode(found.where)});
    }
    if (const std::size_t all = document.diagnostics.size(); all > kFindingsTold)
        m_messages.report(Message{base::Severity::Info,
                                  tr("%1 more messages are not listed").arg(countText(all - kFindingsTold)),
                                  text(document.location),
                                  {},
                                  {}});
}

}  // namespace sonde::context
