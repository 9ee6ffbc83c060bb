#pragma once

#include <QFont>
#include <QObject>
#include <QPalette>

#include "ui/theme/color_role.h"

class QApplication;

namespace sonde::theme {

/// Gaps between and inside controls, in device-independent pixels.
enum Spacing : int { kTight = 4, kSmall = 8, kMedium = 12, kLarge = 16 };
inline constexpr int kCornerRadius = 4;
/// Edge of an icon in a button or a list, and of a large one on an empty panel.
inline constexpr int kIconSize = 18;
inline constexpr int kLargeIconSize = 48;

/// The look of the whole application: which scheme is shown, the fonts, and whether things may move.
/// One object, made on first use; belongs to the UI thread.
class Theme : public QObject {
    Q_OBJECT
  public:
    enum class Mode { System, Light, Dark, HighContrast };
    Q_ENUM(Mode)

    static Theme& instance();

    /// Puts style, palette, fonts and style sheet on the application, and keeps them up to date from then on.
    void install(QApplication& application);

    Mode mode() const { return m_mode; }
    void setMode(Mode mode);
    /// What `mode` comes to: System is resolved from the platform's own palette.
    Scheme scheme() const { return m_scheme; }
    bool isDark() const { return m_scheme != Scheme::Light; }
    /// Light → dark → light: what the key and the button do. System turns into the opposite of what it shows.
    void toggle();

    /// Factor on every font size, 0.75 to 3.
    double textScale() const { return m_textScale; }
    void setTextScale(double scale);

    bool reducedMotion() const { return m_reducedMotion; }
    void setReducedMotion(bool reduced);
    /// How long an animation of `ms` is to take: 0 under reduced motion.
    int animationMs(int ms) const { return m_reducedMotion ? 0 : ms; }

    QFont uiFont() const;
    QFont smallFont() const;
    QFont titleFont() const;
    QFont monoFont() const;

    /// The palette that a scheme gives to Qt's own controls.
    static QPalette palette(Scheme scheme);
    /// The style sheet for the few controls that Fusion draws too loudly.
    static QString styleSheet(Scheme scheme);

    static QString modeKey(Mode mode);
    static Mode modeFromKey(const QString& key);

  Q_SIGNALS:
    /// Colours, fonts or motion are other than before; pictures made from them are to be made anew.
    void changed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    Theme();
    void apply();
    Scheme resolve() const;

    Mode m_mode = Mode::System;
    Scheme m_scheme = Scheme::Light;
    double m_textScale = 1.0;
    bool m_reducedMotion = false;
    bool m_systemDark = false;
    bool m_applying = false;
    QFont m_baseFont;
    QApplication* m_application = nullptr;
};

/// The colour of a role in the scheme that is shown now.
QColor color(ColorRole role);
CategoryColors categoryColors(OpCategory category);
QColor moduleFill(int depth);

}  // namespace sonde::theme
