"""The kinds of pictures, one file each; their table is in `topicvec.pictures`."""
