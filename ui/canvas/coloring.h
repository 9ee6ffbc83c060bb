#pragma once

#include <QColor>
#include <QString>

#include <utility>
#include <vector>

#include "core/layout/scene.h"
#include "ui/models/node_columns.h"
#include "ui/theme/color_role.h"

namespace sonde::canvas {

/// The colours of an item in place of those of its category. `fraction` is how far its number goes along the scale:
/// drawn as a bar as well, so that nothing depends on the colour alone. -1: no number.
struct Tint {
    QColor fill, stroke, text;
    double fraction = -1;
    bool below = false;  ///< the number is less than 0: the bar goes the other way
    bool unknown =
        false;  ///< nothing is known of the item: drawn hollow with a dashed outline, as no colour of a scale is
};

/// Colours of all operations and modules by one column of the node table. Immutable once made.
class Coloring {
  public:
    /// `column` is an id of models::nodeColumns(). A module's number is the sum of what is in it, or the largest if
    /// numbers of that kind do not add up.
    Coloring(const models::NodeMeasures& measures, const QString& column, theme::Scheme scheme);

    const Tint* of(const layout::ItemDescription& what) const;

    const QString& title() const { return m_title; }
    bool isNumeric() const { return m_numeric; }
    /// Numbers lie on both sides of 0, which is in the middle of the scale.
    bool isSigned() const { return m_signed; }
    /// Whether there is any number at all; if not, noteText() says how to come to some.
    bool isKnown() const { return m_known; }
    const QString& noteText() const { return m_note; }
    /// Why the numbers are not those of the present inputs; empty if they are. Colours are pale then.
    const QString& staleReason() const { return m_stale; }
    /// What it means that an item has an unknown() tint: "not measured".
    const QString& unknownText() const { return m_unknown; }
    const Tint& unknownTint() const { return m_nothing; }
    /// What the ends of the scale mean; numeric only.
    const QString& lowText() const { return m_low; }
    const QString& highText() const { return m_high; }
    /// Steps of the scale are factors, as numbers are apart by orders of magnitude.
    bool isLogarithmic() const { return m_logarithmic; }
    /// What the upper end means for modules, whose numbers are sums; empty if that is highText().
    const QString& highModuleText() const { return m_highModule; }
    /// Colours along the scale, or of each of the most frequent texts.
    const std::vector<std::pair<QString, Tint>>& rows() const { return m_rows; }

  private:
    void gatherNumbers(const models::NodeMeasures& measures, int column);
    void byNumber(const models::NodeMeasures& measures, int column, theme::Scheme scheme);
    void byText(const models::NodeMeasures& measures, int column, theme::Scheme scheme);
    void fade(theme::Scheme scheme);

    QString m_title, m_low, m_high, m_highModule, m_note, m_unknown, m_stale;
    bool m_numeric = false, m_signed = false, m_logarithmic = false, m_known = true;
    std::vector<double> m_numberOfExpr, m_numberOfScope;  ///< NaN: none; only while they are made into colours
    Tint m_nothing;                                       ///< of what has no number or text
    std::vector<Tint> m_tints;
    std::vector<int> m_ofExpr, m_ofScope;  ///< indices in m_tints, -1: none
    std::vector<std::pair<QString, Tint>> m_rows;
};

}  // namespace sonde::canvas
