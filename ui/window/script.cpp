#include "ui/window/script.h"

#include <QRegularExpression>

#include "ui/window/main_window.h"
#include "ui/window/panel_table.h"
#include "ui/window/script_commands.h"
#include "ui/window/window_docks.h"

namespace sonde::window {

using base::Error;
using base::Result;
using base::usageError;

namespace {

constexpr int kPollMs = 15;
constexpr int kQuietTurns = 3;  // idle so many times in a row: queued calls have been delivered

/// `usage` as help writes it: what is in brackets may be left out.
Result<void> checkCount(std::string_view name, std::string_view usage, const QString& given) {
    if (usage.empty() && !given.isEmpty())
        return usageError(std::string(name) + " takes no arguments", given.toStdString());
    if (!usage.empty() && !usage.starts_with('[') && given.isEmpty())
        return usageError(std::string(name) + " needs " + std::string(usage), {},
                          "sonde window --help lists the commands");
    return {};
}

}  // namespace

Script::Script(MainWindow& window, const QString& model, const QString& text, const QString& folder, QObject* parent)
    : QObject(parent), m_window(window), m_verbs(window, folder), m_model(model),
      m_lines(text.split(QLatin1Char('\n'))) {
    m_poll.setInterval(kPollMs);
    connect(&m_poll, &QTimer::timeout, this, &Script::poll);
}

void Script::start() {
    QTimer::singleShot(0, this, [this] {
        if (m_model.isEmpty()) return step();
        (void)m_verbs.openFirst(m_model);
        waitForIdle();
    });
}

void Script::poll() {
    m_quietTurns = m_window.isIdle() ? m_quietTurns + 1 : 0;
    if (m_quietTurns >= kQuietTurns) {
        m_poll.stop();
        if (std::optional<Error> failure = m_verbs.takeFailure()) {
            if (failure->where.empty()) failure->where = m_asked.toStdString();
            return fail(*std::move(failure));
        }
        step();
    } else if (m_waiting.elapsed() > 1000LL * m_verbs.waitSeconds()) {
        m_poll.stop();
        fail(usageError("still busy after " + std::to_string(m_verbs.waitSeconds()) + " s"));
    }
}

void Script::fail(Error error) {
    if (m_line > 0) {
        const std::string line = "line " + std::to_string(m_line);
        error.kind = base::ErrorKind::Usage;
        error.where = error.where.empty() ? line : line + ": " + error.where;
    }
    m_error = std::move(error);
    Q_EMIT finished();
}

void Script::waitForIdle() {
    m_quietTurns = 0;
    m_waiting.start();
    m_poll.start();
}

void Script::step() {
    static const QRegularExpression blanks(QStringLiteral("\\s+"));
    while (m_line < m_lines.size()) {
        const QString line = m_lines[m_line++].trimmed();
        if (line.isEmpty() || line.startsWith(QLatin1Char('#'))) continue;
        const QString name = line.section(blanks, 0, 0);
        m_verbs.begin();
        if (const Result<void> done = perform(name, line.mid(name.size()).trimmed()); !done) return fail(done.error());
        if (m_poll.isActive()) return;
    }
    Q_EMIT finished();
}

Result<void> Script::perform(const QString& name, const QString& arguments) {
    m_asked.clear();
    const bool hasModel = m_window.context().model().isOpen();
    const Error noModel = usageError("no model is open", {}, "open MODEL comes first");
    if (const ScriptCommand* command = findScriptCommand(name.toStdString())) {
        if (command->needsModel && !hasModel) return noModel;
        return perform(*command, arguments);
    }
    for (const panels::PanelInfo& panel : panelTable())
        for (const panels::PanelCommand& command : panel.commands) {
            if (name != QLatin1String(command.name)) continue;
            if (!hasModel) return noModel;
            QWidget& widget = *m_window.docks().panel(panel.id);
            SONDE_TRY(checkCount(command.name, command.arguments, arguments));
            SONDE_TRY(command.perform(widget, m_window.docks().hostOf(panel.id), arguments));
            m_asked = arguments;
            waitForIdle();
            return {};
        }
    return usageError("unknown command", name.toStdString(), "sonde window --help lists the commands");
}

Result<void> Script::perform(const ScriptCommand& command, const QString& arguments) {
    const ScriptWord* word = command.find(arguments.toStdString());
    if (!word) SONDE_TRY(checkCount(command.name, command.arguments, arguments));
    if (command.after == ScriptCommand::After::End) {
        m_line = static_cast<int>(m_lines.size());
        return {};
    }
    if (word && !word->isDoneIfDisabled) SONDE_TRY(m_verbs.checkEnabled(QLatin1String(word->action)));
    if (word && word->checks) m_verbs.setChecked(QLatin1String(word->action), *word->checks);
    else if (word) m_verbs.trigger(QLatin1String(word->action));
    else if (command.perform) SONDE_TRY((m_verbs.*command.perform)(arguments));
    else
        return usageError("no such " + std::string(command.name), arguments.toStdString(),
                          std::string(command.arguments));
    if (command.after == ScriptCommand::After::WaitUntilIdle) waitForIdle();
    return {};
}

}  // namespace sonde::window
