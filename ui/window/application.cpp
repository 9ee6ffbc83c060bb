#include "ui/window/application.h"

#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QSettings>
#include <QTemporaryDir>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "core/base/text_file.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/theme/icon.h"
#include "ui/theme/theme.h"
#include "ui/window/main_window.h"
#include "ui/window/orderly_end.h"
#include "ui/window/script.h"
#include "ui/window/session.h"

namespace sonde::window {
namespace {

void prepare(QApplication& application) {
    QCoreApplication::setOrganizationName(QStringLiteral("Sonde"));
    QCoreApplication::setApplicationName(QStringLiteral("Sonde"));
    QCoreApplication::setApplicationVersion(QStringLiteral(SONDE_VERSION));
    QGuiApplication::setDesktopFileName(QStringLiteral("sonde"));
    theme::Theme::instance().install(application);
    application.setWindowIcon(theme::applicationIcon());
}

/// Without a display a window can still be drawn and photographed.
void chooseOffscreenIfNeeded() {
#ifdef Q_OS_LINUX
    if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") && qEnvironmentVariableIsEmpty("DISPLAY") &&
        qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
#endif
}

/// Without a display Qt would end the process with a core dump: print an error instead.
void onStartMessage(QtMsgType type, const QMessageLogContext&, const QString& message) {
    if (type != QtFatalMsg) return;
    const auto error = base::usageError("cannot open a window: no display is available",
                                        message.section(u'\n', 0, 0).simplified().toStdString(),
                                        "sonde --help lists the verbs that need no display; "
                                        "sonde window MODEL --screenshot FILE.png renders the window into a file");
    std::fprintf(stderr, "%s\n", error.commandLineText().c_str());
    std::_Exit(error.exitStatus());
}

QtMessageHandler g_qtMessages = nullptr;

/// What Qt remarks about pictures' colour profiles and platforms is for its developers: the error stream is for Sonde's
/// own lines. Whoever asks for Qt's by its own variable gets them.
void onMessage(QtMsgType type, const QMessageLogContext& context, const QString& message) {
    if (type == QtFatalMsg || type == QtCriticalMsg || !qEnvironmentVariableIsEmpty("QT_LOGGING_RULES"))
        g_qtMessages(type, context, message);
}

std::unique_ptr<QApplication> makeApplication(int& argc, char** argv) {
    g_qtMessages = qInstallMessageHandler(onStartMessage);
    auto application = std::make_unique<QApplication>(argc, argv);
    qInstallMessageHandler(onMessage);
    return application;
}

}  // namespace

int runApplication(int argc, char** argv, const std::vector<std::string>& models) {
    const auto application = makeApplication(argc, argv);
    prepare(*application);
    dialogs::applySavedLook();
    endOrderlyOnSignals();
    const auto openWindow = [](const QString& model) {
        auto* window = new MainWindow;
        window->setAttribute(Qt::WA_DeleteOnClose);
        window->show();
        if (!model.isEmpty()) window->open(model);
        return window;
    };
    for (const std::string& model : models) openWindow(QString::fromStdString(model));
    if (models.empty()) openWindow({})->offerAgain(Session::lost());
    else Session::forgetLost();  // whoever names a model wants that one
    return QApplication::exec();
}

base::Result<int> driveWindow(const DriveOptions& options) {
    QString script = QStringLiteral("wait\n");
    const QString folder = QDir::currentPath();
    if (!options.script.empty()) {
        SONDE_ASSIGN(const std::string text, base::readText(options.script, "the script"));
        script = QString::fromStdString(text);
    }
    QSize size(1400, 900);
    if (!options.size.empty()) {
        SONDE_ASSIGN(size, parseSize(QString::fromStdString(options.size)));
    }
    chooseOffscreenIfNeeded();
    int argc = 1;
    char name[] = "sonde";
    char* argv[] = {name, nullptr};
    const auto application = makeApplication(argc, argv);
    // The user's own settings neither show in the picture nor are changed by it.
    const QTemporaryDir settings;
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings.path());
    prepare(*application);
    theme::Theme::instance().setReducedMotion(true);
    theme::Theme::instance().setMode(options.theme.empty()
                                         ? theme::Theme::Mode::Light
                                         : theme::Theme::modeFromKey(QString::fromStdString(options.theme)));
    MainWindow window;
    window.context().loader().setAllowsNative(options.allowNative);
    window.resize(size);
    window.show();
    window.activateWindow();
    Script driver(window, QString::fromStdString(options.model), script, folder);
    QObject::connect(
        &driver, &Script::finished, application.get(), [] { QCoreApplication::exit(0); }, Qt::QueuedConnection);
    if (!options.script.empty()) driver.readFrom(QFileInfo(QString::fromStdString(options.script)).absolutePath());
    driver.start();
    QApplication::exec();
    base::Result<int> result = 0;
    if (driver.error()) result = *driver.error();
    if (!options.screenshot.empty() && result) {
        if (auto saved = saveScreenshot(window, QString::fromStdString(options.screenshot)); !saved)
            result = std::move(saved).error();
    }
    window.close();
    return result;
}

}  // namespace sonde::window
