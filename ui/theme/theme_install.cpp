// How the look gets onto the application and follows the desktop's.

#include <QApplication>
#include <QEvent>

#include "ui/theme/calm_style.h"
#include "ui/theme/serial_paint.h"
#include "ui/theme/theme.h"

namespace sonde::theme {

void Theme::install(QApplication& application) {
    if (m_application != &application) {
        m_application = &application;
        paintOnOneThread();
        // The palette that the platform brings, read before ours covers it, tells a dark desktop from a light one.
        m_systemDark = application.palette().color(QPalette::Window).lightness() < 128;
        m_baseFont = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
        QApplication::setStyle(new CalmStyle);
        application.installEventFilter(this);
        connect(&application, &QObject::destroyed, this, [this] { m_application = nullptr; });
    }
    m_scheme = resolve();
    apply();
}

void Theme::apply() {
    if (!m_application) return;
    m_applying = true;
    QApplication::setPalette(palette(m_scheme));
    QApplication::setFont(uiFont());
    m_application->setStyleSheet(styleSheet(m_scheme));
    m_applying = false;
}

bool Theme::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ThemeChange && !m_applying && m_application) {
        // The desktop went dark or light: take our palette off to see the platform's.
        m_applying = true;
        QApplication::setPalette(QPalette());
        m_systemDark = QApplication::palette().color(QPalette::Window).lightness() < 128;
        m_applying = false;
        const Scheme before = m_scheme;
        m_scheme = resolve();
        apply();
        if (m_scheme != before) Q_EMIT changed();
    }
    return QObject::eventFilter(watched, event);
}

}  // namespace sonde::theme
