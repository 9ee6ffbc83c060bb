#pragma once

#include <QObject>

#include <functional>

#include "ui/actions/action_registry.h"
#include "ui/context/inspector_context.h"

namespace sonde::widgets {
class Banner;
}

namespace sonde::window {

/// What the banner over the graph says and offers: errors, a file that has changed, code that asks for consent, what a
/// session had open that was killed.
class WindowBanner : public QObject {
    Q_OBJECT
  public:
    /// All must outlive it.
    WindowBanner(widgets::Banner& banner, context::InspectorContext& context, const actions::ActionRegistry& actions);

    /// Offers to open again what a session had open that was killed.
    void offerAgain(const QStringList& locations, std::function<void()> open);

  Q_SIGNALS:
    /// The user wants to say where the model of a session file is.
    void modelRequested(const sonde::context::SessionQuestion& question);

  private:
    void ask(std::function<void()> question);
    void showSessionQuestion(const context::SessionQuestion& question);
    void show(const context::Message& message);
    void offerReload();
    void askForConsent(const document::NativeRequest& request);
    void tellOfOtherWriter(const QString& session);
    void dismissed();
    void act();

    widgets::Banner& m_banner;
    context::InspectorContext& m_context;
    const actions::ActionRegistry& m_actions;
    context::Message m_message;
    std::function<void()> m_action;    ///< of the button; none: it shows the message's node
    std::function<void()> m_question;  ///< shows what only the user's answer, or another file, takes away
    bool m_asks = false;               ///< the banner has it; else an error may stand before it
    bool m_offersAgain = false;        ///< the banner has what another session had open
};

}  // namespace sonde::window
