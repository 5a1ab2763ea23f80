package assembly

// IdsOn are the ids that joints of the config have on a bus, whatever they are made of.
func (p *Plan) IdsOn(bus string) (ids []int) {
	for i := range p.Agents {
		for _, j := range p.Agents[i].Joints {
			if hw := j.Hardware; hw != nil && hw.Device == "" && hw.Bus == bus {
				ids = append(ids, hw.ID)
			}
		}
	}
	return ids
}
