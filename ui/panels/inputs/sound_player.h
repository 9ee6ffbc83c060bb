#pragma once

#include <QObject>

#include <memory>

#include "core/tensor/tensor.h"

namespace sonde::panels {

/// Plays the first row of a recording, where Qt Multimedia was there when Sonde was built.
class SoundPlayer : public QObject {
    Q_OBJECT
  public:
    explicit SoundPlayer(QObject* parent = nullptr);
    ~SoundPlayer() override;

    /// Whether sound can be played at all.
    static bool isThere();
    bool isPlaying() const;
    /// Floats in [-1, 1] or int16; time is the last axis.
    void play(const tensor::Tensor& sound, int rate);
    void stop();

  Q_SIGNALS:
    void changed();

  private:
    struct Output;
    std::unique_ptr<Output> m_output;
};

}  // namespace sonde::panels
