#pragma once

#include <QWidget>

namespace sonde::context {
struct ModelInput;
}

namespace sonde::widgets {
class NumberField;
}

namespace sonde::panels {

/// A narrow field with its name before it, for a row that goes on in a new line.
QWidget* labelled(const QString& label, widgets::NumberField* field);

/// A row of an input's editor for one way to change its value. It is seen while it has something to offer.
class InputPart : public QWidget {
    Q_OBJECT
  public:
    using QWidget::QWidget;

    /// Shows what the context has for the input now, and itself or not.
    virtual void refresh(const context::ModelInput& input) = 0;

  Q_SIGNALS:
    /// Another source for the input; `isDone`: not one of many while something is dragged.
    void given(const QString& source, bool isDone);
};

}  // namespace sonde::panels
