#pragma once

#include <QToolBar>

#include "ui/actions/action_registry.h"

class QLabel;

namespace sonde::widgets {
class ElidedLabel;
}

namespace sonde::window {

/// Below everything while a model is presented: where one is, and what can be done.
class PresentationBar : public QToolBar {
    Q_OBJECT
  public:
    PresentationBar(const actions::ActionRegistry& actions, QWidget* parent);

    /// "4 of 13", the name of the layer, and what it does or makes.
    void show(const QString& place, const QString& title, const QString& facts);
    QString placeText() const;
    QString titleText() const;
    QString factsText() const;

  private:
    QLabel* m_place;
    widgets::ElidedLabel* m_title;
    widgets::ElidedLabel* m_facts;
};

}  // namespace sonde::window
