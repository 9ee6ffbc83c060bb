#include "app/verbs/render_application.h"

#include <cstdio>

namespace sonde::app {

namespace {

void dropQtMessage(QtMsgType type, const QMessageLogContext&, const QString& message) {
    if (type == QtFatalMsg || type == QtCriticalMsg) std::fprintf(stderr, "%s\n", qPrintable(message));
}

}  // namespace

OffscreenApplication::OffscreenApplication() {
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qInstallMessageHandler(dropQtMessage);
    m_application = std::make_unique<QGuiApplication>(m_count, m_arguments);
}

}  // namespace sonde::app
