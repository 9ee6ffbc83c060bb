#include "ui/theme/theme.h"

#include <QApplication>
#include <QFontDatabase>
#include <QPointer>
#include <QWidget>

#include <algorithm>

namespace sonde::theme {

Theme& Theme::instance() {
    static Theme theme;
    return theme;
}

Theme::Theme() : m_baseFont(QFontDatabase::systemFont(QFontDatabase::GeneralFont)) {}

Scheme Theme::resolve() const {
    switch (m_mode) {
        case Mode::Light: return Scheme::Light;
        case Mode::Dark: return Scheme::Dark;
        case Mode::HighContrast: return Scheme::HighContrast;
        case Mode::System: break;
    }
    return m_systemDark ? Scheme::Dark : Scheme::Light;
}

void Theme::setMode(Mode mode) {
    if (mode == m_mode) return;
    m_mode = mode;
    const Scheme next = resolve();
    if (next == m_scheme) return;
    m_scheme = next;
    apply();
    Q_EMIT changed();
}

void Theme::toggle() { setMode(isDark() ? Mode::Light : Mode::Dark); }

void Theme::setTextScale(double scale) {
    scale = std::clamp(scale, 0.75, 3.0);
    if (qFuzzyCompare(scale, m_textScale)) return;
    m_textScale = scale;
    apply();
    Q_EMIT changed();
}

void Theme::setReducedMotion(bool reduced) {
    if (reduced == m_reducedMotion) return;
    m_reducedMotion = reduced;
    Q_EMIT changed();
}

namespace {

QFont scaled(QFont font, double factor) {
    if (font.pointSizeF() > 0) font.setPointSizeF(font.pointSizeF() * factor);
    else font.setPixelSize(std::max(1, qRound(font.pixelSize() * factor)));
    return font;
}

}  // namespace

QFont Theme::uiFont() const { return scaled(m_baseFont, m_textScale); }
QFont Theme::smallFont() const { return scaled(m_baseFont, 0.9 * m_textScale); }

QFont Theme::titleFont() const {
    QFont font = scaled(m_baseFont, 1.15 * m_textScale);
    font.setWeight(QFont::DemiBold);
    return font;
}

QFont Theme::monoFont() const {
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setStyleHint(QFont::Monospace);
    if (m_baseFont.pointSizeF() > 0) font.setPointSizeF(m_baseFont.pointSizeF() * 0.95 * m_textScale);
    return font;
}

QPalette Theme::palette(Scheme scheme) {
    const auto c = [scheme](ColorRole role) { return color(role, scheme); };
    QPalette p;
    p.setColor(QPalette::Window, c(ColorRole::Window));
    p.setColor(QPalette::WindowText, c(ColorRole::Text));
    p.setColor(QPalette::Base, c(ColorRole::Base));
    p.setColor(QPalette::AlternateBase, c(ColorRole::AlternateRow));
    p.setColor(QPalette::Text, c(ColorRole::Text));
    p.setColor(QPalette::PlaceholderText, c(ColorRole::MutedText));
    p.setColor(QPalette::Button, c(ColorRole::Raised));
    p.setColor(QPalette::ButtonText, c(ColorRole::Text));
    p.setColor(QPalette::BrightText, c(ColorRole::Error));
    p.setColor(QPalette::ToolTipBase, c(ColorRole::ToolTip));
    p.setColor(QPalette::ToolTipText, c(ColorRole::ToolTipText));
    p.setColor(QPalette::Highlight, c(ColorRole::Accent));
    p.setColor(QPalette::HighlightedText, c(ColorRole::AccentText));
    p.setColor(QPalette::Link, c(ColorRole::Link));
    p.setColor(QPalette::LinkVisited, c(ColorRole::Link));
    p.setColor(QPalette::Light, c(ColorRole::Raised));
    p.setColor(QPalette::Midlight, c(ColorRole::Hover));
    p.setColor(QPalette::Mid, c(ColorRole::Border));
    p.setColor(QPalette::Dark, c(ColorRole::StrongBorder));
    p.setColor(QPalette::Shadow, c(ColorRole::StrongBorder));
    for (QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        p.setColor(QPalette::Disabled, role, c(ColorRole::DisabledText));
    p.setColor(QPalette::Disabled, QPalette::Highlight, c(ColorRole::Hover));
    p.setColor(QPalette::Disabled, QPalette::HighlightedText, c(ColorRole::DisabledText));
    return p;
}

QString Theme::modeKey(Mode mode) {
    switch (mode) {
        case Mode::Light: return QStringLiteral("light");
        case Mode::Dark: return QStringLiteral("dark");
        case Mode::HighContrast: return QStringLiteral("high-contrast");
        case Mode::System: break;
    }
    return QStringLiteral("system");
}

Theme::Mode Theme::modeFromKey(const QString& key) {
    for (Mode mode : {Mode::Light, Mode::Dark, Mode::HighContrast})
        if (key == modeKey(mode)) return mode;
    if (key == QLatin1String("contrast")) return Mode::HighContrast;  // its name on the command line and in scripts
    return Mode::System;
}

QColor color(ColorRole role) { return color(role, Theme::instance().scheme()); }
CategoryColors categoryColors(OpCategory category) { return categoryColors(category, Theme::instance().scheme()); }
QColor moduleFill(int depth) { return moduleFill(depth, Theme::instance().scheme()); }

}  // namespace sonde::theme
