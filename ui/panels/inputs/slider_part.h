#pragma once

#include <QStringList>

#include <vector>

#include "ui/panels/inputs/input_part.h"

class QGridLayout;
class QLabel;
class QSlider;

namespace sonde::widgets {
class NumberField;
}

namespace sonde::panels {

/// A slider for each number of an input that is given as at most 16 of them, and the range of the sliders.
class SliderPart : public InputPart {
    Q_OBJECT
  public:
    explicit SliderPart(const QString& inputName, QWidget* parent = nullptr);
    void refresh(const context::ModelInput& input) override;

    static constexpr int kMaxNumbers = 16;

  private:
    void make(int count);
    void fitRange();
    void placeSliders();
    void giveAt(int index, bool isDone);
    void takeRange();
    QString textAt(int place) const;
    int placeOf(double number) const;

    QString m_name;
    QString m_source;
    bool m_isIntegral = false;
    std::vector<double> m_numbers;
    double m_low = 0, m_high = 0;  ///< of the sliders; both 0: not chosen yet
    QGridLayout* m_grid;
    std::vector<QSlider*> m_sliders;
    std::vector<QLabel*> m_labels;  ///< "[2]  0.25" before each
    QWidget* m_range;
    widgets::NumberField *m_lowField, *m_highField;
};

}  // namespace sonde::panels
