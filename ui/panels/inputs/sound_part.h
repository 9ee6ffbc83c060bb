#pragma once

#include "core/session/sound/sound_picture.h"
#include "core/tensor/value.h"
#include "ui/context/job.h"
#include "ui/panels/inputs/input_part.h"

class QToolButton;

namespace sonde::widgets {
class ElidedLabel;
}

namespace sonde::panels {

class SoundPlayer;
class SoundView;

/// A recording as the value of an input: waveform and spectrogram of what the model gets, and a button to hear it.
class SoundPart : public InputPart {
    Q_OBJECT
  public:
    explicit SoundPart(const QString& inputName, QWidget* parent = nullptr);
    void refresh(const context::ModelInput& input) override;

  private:
    void take(base::Result<session::SoundPicture> made);

    QString m_source;
    tensor::Value m_value;  ///< that is shown, or looked at
    int m_rate = 0;
    context::Job m_job;
    widgets::ElidedLabel* m_text;
    SoundView* m_view;
    QToolButton* m_play;
    SoundPlayer* m_player;
};

}  // namespace sonde::panels
