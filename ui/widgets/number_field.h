#pragma once

#include <QAbstractSpinBox>

namespace sonde::widgets {

/// One number as text, integers of 64 bits included. Up, Down and the wheel step by one, or for real numbers by a tenth
/// of the leading digit's place; PageUp and PageDown by ten steps.
class NumberField : public QAbstractSpinBox {
    Q_OBJECT
  public:
    explicit NumberField(QWidget* parent = nullptr);

    /// Whether only integers are taken.
    void setIntegral(bool integral);
    QString number() const;
    void setNumber(const QString& number);
    /// Whether it shows another number than setNumber() gave.
    bool isModified() const;

    void stepBy(int steps) override;
    QValidator::State validate(QString& text, int& position) const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    /// The user stepped; typed numbers are told by editingFinished().
    void stepped();
    /// What was typed so far is a number.
    void typed();

  protected:
    void wheelEvent(QWheelEvent* event) override;
    StepEnabled stepEnabled() const override { return StepUpEnabled | StepDownEnabled; }

  private:
    QSize sizeFor(const QString& text) const;
    bool m_integral = true;
    QString m_given;
};

}  // namespace sonde::widgets
