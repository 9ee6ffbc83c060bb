#pragma once

#include <QObject>
#include <QString>

#include "ui/context/inspector_context.h"
#include "ui/models/node_columns.h"

namespace sonde::window {

/// Which column gives the colours of a window. While there is a comparison, that is the difference, so that it is seen
/// at once; so are the errors of a lower precision once they are measured. Afterwards what it was before. What colours
/// or cards tell of values is computed as soon as there is a run.
class ComparisonColors : public QObject {
    Q_OBJECT
  public:
    /// The context must outlive it.
    explicit ComparisonColors(context::InspectorContext& context);

    /// The column of the settings: differences colour as long as there is a comparison, which ends with the process, as
    /// do profiles.
    QString lastingColumn() const;

  Q_SIGNALS:
    /// There is a comparison: nodes are to be coloured by their difference, with the legend.
    void differenceWanted();
    /// The same of the errors of a lower precision.
    void precisionWanted();

  private:
    void follow();
    void measureIfNeeded();

    context::InspectorContext& m_context;
    void followOne(models::NodeColumn::Source source, bool isKnown, bool& wasKnown, void (ComparisonColors::*wanted)());

    bool m_showsComparison = false, m_showsPrecision = false, m_showsProfile = false;
    QString m_before;  ///< what gave the colours before a comparison did
};

}  // namespace sonde::window
