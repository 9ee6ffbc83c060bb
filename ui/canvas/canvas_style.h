#pragma once

#include <QFont>
#include <QString>

#include <array>
#include <memory>

#include "ui/theme/color_role.h"

namespace sonde::canvas {

struct CardLabels;

/// How a scene is drawn. A value: the window's picture and an exported one differ in nothing else.
struct CanvasStyle {
    theme::Scheme scheme = theme::Scheme::Light;
    double textScale = 1.0;                    ///< on every font size of the picture, 0.75 to 3
    bool showNames = true;                     ///< generated names under the qualnames
    bool showAttributes = false;               ///< attributes as lines of the card
    std::shared_ptr<const CardLabels> labels;  ///< the user's own lines; null: operator, module, name
    bool edgeWidths = false;                   ///< edges are as wide as the tensors on them are large

    bool operator==(const CanvasStyle&) const = default;
    QColor color(theme::ColorRole role) const { return theme::color(role, scheme); }
};

/// The three sizes of text in a picture.
enum class TextRole { Title, Body, Small };

/// The font of a role in scene units. Chosen by family name, not from the desktop, so that a picture has the same bytes
/// whoever draws it; unhinted, so that widths are in proportion at every zoom.
QFont canvasFont(TextRole role, double textScale);

/// Widths of texts by a table of advances: quick enough for 100,000 names, and safe on any thread once made (fonts are
/// asked on the UI thread, in the constructor). Characters outside Latin-1 count one em if they are wide, else 0.7.
class TextMeasure {
  public:
    explicit TextMeasure(double textScale = 1.0);

    double width(TextRole role, QStringView text) const;
    double height(TextRole role) const { return m_fonts[index(role)].height; }
    double ascent(TextRole role) const { return m_fonts[index(role)].ascent; }
    /// The text, or as much of both its ends as fits, with an ellipsis between.
    QString elided(TextRole role, const QString& text, double width) const;

  private:
    struct Font {
        std::array<float, 256> advance{};
        double em = 0, height = 0, ascent = 0;
    };
    static std::size_t index(TextRole role) { return static_cast<std::size_t>(role); }
    double advance(const Font& font, QChar c) const;

    std::array<Font, 3> m_fonts;
};

}  // namespace sonde::canvas
