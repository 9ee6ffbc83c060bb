#include "ui/window/window_banner.h"

#include <QAction>
#include <QFileInfo>

#include <utility>

#include "ui/widgets/banner.h"
#include "ui/window/recent_files.h"
#include "ui/window/session.h"

namespace sonde::window {

using Severity = widgets::Banner::Severity;

WindowBanner::WindowBanner(widgets::Banner& banner, context::InspectorContext& context,
                           const actions::ActionRegistry& actions)
    : m_banner(banner), m_context(context), m_actions(actions) {
    connect(&banner, &widgets::Banner::dismissed, this, &WindowBanner::dismissed);
    connect(&banner, &widgets::Banner::actionTriggered, this, &WindowBanner::act);
    connect(&context.messages(), &context::Messages::bannerRequested, this, &WindowBanner::show);
    connect(&context.messages(), &context::Messages::bannerCleared, this, [this] {
        if (!m_asks) m_banner.dismiss();
    });
    connect(&context.messages(), &context::Messages::runBannerCleared, this, [this] {
        if (m_message.isOfRun) m_banner.dismiss();
    });
    connect(&context.messages(), &context::Messages::savingBannerCleared, this, [this] {
        if (m_message.isOfSaving) m_banner.dismiss();
    });
    connect(&context.model(), &context::OpenModel::fileChanged, this, &WindowBanner::offerReload);
    connect(&context.loader(), &context::Loader::consentRequested, this,
            [this](const document::NativeRequest& request) { ask([this, request] { askForConsent(request); }); });
    connect(
        &context.loader(), &context::Loader::sessionQuestioned, this,
        [this](const context::SessionQuestion& question) { ask([this, question] { showSessionQuestion(question); }); });
    connect(&context.sessionFiles(), &context::SessionFiles::changedElsewhere, this, &WindowBanner::tellOfOtherWriter);
    const auto forget = [this] {
        m_question = nullptr;
        if (std::exchange(m_asks, false)) m_banner.dismiss();
    };
    connect(&context.loader(), &context::Loader::loadStarted, this, forget);
    connect(&context.model(), &context::OpenModel::documentClosed, this, forget);
    connect(&context.sessionFiles(), &context::SessionFiles::overwritten, this, forget);
}

/// A question stays until it is answered or closed: a run takes it away no more than an error that comes meanwhile.
void WindowBanner::ask(std::function<void()> question) {
    m_question = std::move(question);
    m_question();
    m_asks = true;
}

void WindowBanner::dismissed() {
    if (std::exchange(m_offersAgain, false)) Session::forgetLost();
    if (std::exchange(m_asks, false)) m_question = nullptr;
    else if (m_question) ask(m_question);
}

void WindowBanner::act() {
    if (const auto action = m_action) action();  // a copy: it may show another message
    else if (const graph::NodeId node = m_context.messages().nodeOf(m_message); node.valid())
        m_context.navigation().navigateTo(node);
}

void WindowBanner::show(const context::Message& message) {
    m_asks = false;
    const Severity severity = message.severity == base::Severity::Error     ? Severity::Error
                              : message.severity == base::Severity::Warning ? Severity::Warning
                                                                            : Severity::Info;
    m_action = nullptr;
    m_offersAgain = false;  // unanswered, it is offered at the next start
    m_message = message;
    QString text = message.text;
    // A run's error and the operation with its types have lines of their own: in a small window neither cuts off the
    // other.
    QString hint = message.hint;
    if (message.isOfRun && !message.where.isEmpty())
        hint.prepend(message.where + (hint.isEmpty() ? QString() : QStringLiteral("\n")));
    else if (!message.where.isEmpty()) text += QStringLiteral(" (%1)").arg(message.where);
    m_banner.showMessage(severity, text, hint,
                         m_context.messages().nodeOf(message).valid() ? tr("Show Node") : QString());
}

void WindowBanner::offerReload() {
    m_message = {};
    m_asks = false;
    m_offersAgain = false;
    const QString key = m_actions.action(QStringLiteral("file.reload"))->shortcut().toString(QKeySequence::NativeText);
    m_banner.showMessage(Severity::Warning, tr("%1; reload (%2)").arg(m_context.model().fileProblem(), key),
                         tr("No values are shown until then. View, watch points and bookmarks are kept."),
                         tr("Reload"));
    m_action = [this] { m_context.loader().reload(); };
}

/// The question is above the graph; whoever does not answer it goes on working, and nothing has run.
void WindowBanner::askForConsent(const document::NativeRequest& request) {
    m_message = {};
    m_offersAgain = false;
    const QString file = QString::fromStdString(request.path.filename().string());
    m_banner.showMessage(
        Severity::Warning,
        tr("%1 is a shared library: opening it runs its code with your rights. It can read, change and send your files.")
            .arg(file),
        tr("Agree only if you know where it comes from. Sonde remembers this for exactly this content (SHA-256 %1…) and asks again if the file changes.")
            .arg(QString::fromStdString(request.hash.substr(0, 16))),
        tr("Run Its Code"));
    m_action = [this, request] { m_context.loader().agreeToNative(request); };
}

/// What two programs have written cannot be joined: which one is kept is the user's to say.
void WindowBanner::tellOfOtherWriter(const QString& session) {
    ask([this, session] {
        m_message = {};
        m_offersAgain = false;
        const QString file = QFileInfo(session).fileName();
        const QString key =
            m_actions.action(QStringLiteral("file.save_session"))->shortcut().toString(QKeySequence::NativeText);
        m_banner.showMessage(
            Severity::Warning, tr("%1 was changed by another program").arg(file),
            tr("It is not overwritten, and what you change is not saved. Reload takes what the file has; Save Session (%1) overwrites it.")
                .arg(key),
            tr("Reload"));
        m_action = [this, session] { m_context.loader().open(session); };
    });
}

/// What a session file may do and whose model it takes is the user's to say.
void WindowBanner::showSessionQuestion(const context::SessionQuestion& question) {
    using State = document::SessionModel::State;
    m_message = {};
    m_offersAgain = false;
    const QString file = QFileInfo(question.session).fileName(), model = QFileInfo(question.model).fileName();
    const QString expected =
        tr("Expected: %1, %2 bytes, SHA-256 %3").arg(model).arg(question.bytes).arg(question.sha256);
    switch (question.state) {
        case State::Outside:
            m_banner.showMessage(Severity::Warning, tr("%1 wants to read outside of its folder").arg(file),
                                 tr("%1. Agree only if you know where the session comes from.").arg(question.model),
                                 tr("Read It"));
            m_action = [this, question] { m_context.loader().allowOutside(question.session); };
            return;
        case State::Changed:
            m_banner.showMessage(Severity::Warning, tr("%1 is not the model that %2 was saved with").arg(model, file),
                                 tr("%1. Points are found again by name, module and structure.").arg(expected),
                                 tr("Open It Anyway"));
            m_action = [this, question] { m_context.loader().openSession(question.session, question.model, true); };
            return;
        case State::Missing:
        case State::Found: break;
    }
    m_banner.showMessage(Severity::Warning, tr("The model of %1 was not found").arg(file), expected,
                         tr("Choose File…"));
    m_action = [this, question] { Q_EMIT modelRequested(question); };
}

void WindowBanner::offerAgain(const QStringList& locations, std::function<void()> open) {
    if (locations.isEmpty()) return;
    m_message = {};
    m_asks = false;
    m_offersAgain = true;
    m_action = [this, open = std::move(open)] {
        m_banner.dismiss();
        open();
    };
    QStringList names;
    for (const QString& location : locations) names << shortLocation(location);
    m_banner.showMessage(Severity::Info,
                         tr("Sonde ended unexpectedly with %1 open").arg(names.join(QStringLiteral(", "))),
                         tr("Watch points, expanded modules, inputs and panels are restored."), tr("Open Again"));
}

}  // namespace sonde::window
