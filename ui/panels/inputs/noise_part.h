#pragma once

#include "ui/panels/inputs/input_part.h"

class QSlider;

namespace sonde::widgets {
class NumberField;
}

namespace sonde::panels {

/// Noise on the floats of an input: its amplitude by a slider or as a number, and its seed.
class NoisePart : public InputPart {
    Q_OBJECT
  public:
    explicit NoisePart(const QString& inputName, QWidget* parent = nullptr);
    void refresh(const context::ModelInput& input) override;

  private:
    void giveSlider(int place, bool isDone);
    void giveTyped();
    void give(double amplitude, quint64 seed, bool isDone);

    QString m_source;   ///< with its noise
    double m_most = 1;  ///< the slider's end
    QSlider* m_slider;
    widgets::NumberField *m_amplitude, *m_seed;
};

}  // namespace sonde::panels
