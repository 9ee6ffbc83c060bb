#pragma once

#include <QString>
#include <QWidget>

#include "ui/widgets/value_scale.h"

class QComboBox;
class QLineEdit;
class QToolButton;

namespace sonde::widgets {

/// What a range control is set to: remembered per tensor.
struct RangeState {
    double low = 0.0;
    double high = 1.0;
    bool autofit = true;  ///< follow the data that is shown
    bool locked = false;  ///< keep the range when another value is shown
    bool logarithmic = false;
    bool diverging = false;  ///< even about zero
    QString map;             ///< id of the colour map; empty for the usual one
    bool operator==(const RangeState&) const = default;
};

/// Black and white point of a picture of numbers, as in RenderDoc: two fields, autofit (right click keeps it on), lock,
/// logarithm, even about zero, and the colour map. Up and Down in a field change it by a hundredth of the range.
class RangeControl : public QWidget {
    Q_OBJECT
  public:
    explicit RangeControl(QWidget* parent = nullptr);

    /// Smallest and largest finite number of what is shown. An unlocked control with autofit follows.
    void setData(double smallest, double largest);
    const RangeState& state() const { return m_state; }
    void setState(const RangeState& state);

    ValueScale scale() const { return {m_state.low, m_state.high, m_state.logarithmic}; }
    /// The chosen map, or the usual one: diverging when the range is even about zero.
    QString mapId() const;
    /// One row where there is little room: without the map, and what makes the range symmetric or logarithmic.
    void setCompact(bool compact);

  public Q_SLOTS:
    void fitOnce();
    void setLocked(bool locked);
    void setLogarithmic(bool logarithmic);
    void setDiverging(bool diverging);

  Q_SIGNALS:
    /// Range, scale or map are other than before.
    void changed();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;

  private:
    void fitFields();
    void fitToData();
    void takeField(QLineEdit* field);
    void nudge(QLineEdit* field, int steps);
    void setEnds(double low, double high);
    void refresh();

    RangeState m_state;
    double m_smallest = 0.0, m_largest = 1.0;
    bool m_isCompact = false;
    QLineEdit* m_low;
    QLineEdit* m_high;
    QToolButton* m_autofit;
    QToolButton* m_lock;
    QToolButton* m_log;
    QToolButton* m_diverging;
    QComboBox* m_map;
};

}  // namespace sonde::widgets
