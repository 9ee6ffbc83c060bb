#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include "ui/context/label_rules.h"

namespace sonde::context {

/// How a window shows models: colours, and what is written on nodes. Belongs to the UI thread.
class Settings : public QObject {
    Q_OBJECT
  public:
    /// What gives operations their colour: "category", or a column of models::nodeColumns().
    const QString& colorBy() const { return m_colorBy; }
    /// Whether edges are as wide as the tensors on them are large.
    bool edgeWidths() const { return m_edgeWidths; }
    /// Whether attributes and generated names are to be written on nodes.
    bool showsAttributes() const { return m_showsAttributes; }
    bool showsNames() const { return m_showsNames; }
    /// What is written on nodes in place of operator, module and name; empty: those.
    const LabelRules& labelRules() const { return m_labelRules; }

    /// Classes that this user keeps as single nodes in every model (QSettings "tracing/leaves").
    static QStringList registeredLeaves();
    static void setRegisteredLeaves(const QStringList& classes);
    /// Whether ONNX files that name no modules are shown with groups found in the graph (QSettings "tracing/groups").
    static bool findsGroups();
    static void setFindsGroups(bool finds);

  public Q_SLOTS:
    void setColorBy(const QString& column);
    void setEdgeWidths(bool bySize);
    void setShowsAttributes(bool shown);
    void setShowsNames(bool shown);
    void setLabelRules(const sonde::context::LabelRules& rules);

  Q_SIGNALS:
    void coloringChanged();
    /// Only how nodes are labelled has changed.
    void labelsChanged();

  private:
    QString m_colorBy = QStringLiteral("category");
    bool m_edgeWidths = false;
    bool m_showsAttributes = false;
    bool m_showsNames = true;
    LabelRules m_labelRules;
};

}  // namespace sonde::context
